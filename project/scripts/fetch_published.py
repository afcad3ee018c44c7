"""Fetch what reproducing published results takes: the data sets, the vectors named in `reproduce/project.yml`, and the
weights of a pretrained encoder."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zlib
from pathlib import Path
from typing import Annotated, Dict, Optional

import fetch_assets
import protect_texts
import typer
from paths import PROJECT, find_checkpoint, find_input
from wasabi import msg

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.readers import read_word_vectors

# What reading a damaged archive raises, as opposed to a full disk.
DAMAGED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError)


def unpacked(place: Path) -> Path:
    """RETURNS (Path): The vector file of an asset: itself, or what an archive is unpacked to."""
    return place.with_name(place.name.replace(".tar.gz", ".txt"))


def unpack(archive: Path) -> Path:
    """Extract the largest file of an archive, completely or not at all.

    archive (Path): The archive, `.tar.gz`; any other file is left alone.
    RETURNS (Path): The vector file. Raises one of DAMAGED if there is none, and OSError if it cannot be written.
    """
    target = unpacked(archive)
    if target == archive or target.is_file():
        return target
    with tarfile.open(archive) as members, fetch_assets.whole_file(target) as part, part.open("wb") as file:
        files = [member for member in members if member.isfile()]
        if not files:
            raise tarfile.TarError(f"{archive} contains no file")
        shutil.copyfileobj(members.extractfile(max(files, key=lambda member: member.size)), file)
    return target


def check_rows(vectors: Path) -> None:
    """Raise LexiconError if a file holds no vectors, not as many rows as its header says, or a last row that breaks
    off, which `read_word_vectors` would only skip."""
    dim = len(next(iter(read_word_vectors(vectors))).vector)
    with vectors.open("rb") as file:
        first = last = file.readline()
        header = first.split()
        has_header = len(header) == 2 and all(field.isdigit() for field in header)
        n_rows = 0 if has_header else 1
        for line in file:
            if line.strip():
                n_rows, last = n_rows + 1, line
    if has_header and n_rows != int(header[0]):
        raise LexiconError(f"its header says {int(header[0])} rows, it has {n_rows}")
    if len(last.split()) <= dim:
        raise LexiconError(f"its last row breaks off: it has {len(last.split())} fields, not a word and {dim} numbers")


def check_vectors(place: Path) -> None:
    """Unpack a vector file and check its rows. If it is incomplete or something else, such as an error page, renames
    it, so that it will be fetched again, and raises LexiconError.

    place (Path): The file or archive. The archive may be missing if it was unpacked before.
    """
    given = unpacked(place) if unpacked(place).is_file() else place
    try:
        check_rows(unpack(place))
    except (LexiconError, *DAMAGED) as error:
        refused = given.replace(given.with_name(f"{given.name}.refused"))
        unpacked(place).unlink(missing_ok=True)
        raise LexiconError(f"{refused} is not a complete vector file: {error}") from error


def fetch_vectors(asset: Dict[str, str], folder: Optional[Path]) -> bool:
    """RETURNS (bool): Whether a vector file is there now, fetched if need be. If not, a message says why."""
    place = PROJECT / asset["dest"]
    if not unpacked(place).is_file() and not fetch_assets.fetch(asset, folder):
        return False
    try:
        check_vectors(place)
    except (LexiconError, OSError) as error:
        msg.warn(f"{asset['dest']} cannot be used", str(error))
        return False
    if "checksum" not in asset and place.is_file():
        msg.info(f"{asset['dest']}: the publisher gives no checksum; its MD5 is {fetch_assets.md5(place)}")
    return True


def find_folder(name: str) -> Path:
    """RETURNS (Path): The absolute path of a folder to copy from. Exits with a message if there is none."""
    try:
        folder = find_input(name)
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} is not a folder.")
    except FileNotFoundError as error:
        msg.fail(str(error), "Name the folder with the data sets and vectors: --vars.data_dir FOLDER", exits=1)
    return folder


def fetch_weights(checkpoint: str) -> None:
    """Download the weights and vocabulary of a Hugging Face model to the cache of transformers, or exit with a
    message."""
    from spacy_lexner.encoders.shared.bert_shaped import load_encoder, load_encoder_config, load_tokenizer

    try:
        load_tokenizer(checkpoint)
        load_encoder(checkpoint, load_encoder_config(checkpoint))
    except (OSError, ValueError) as error:
        remedy = "Name a BERT-like model, a folder or a name on huggingface.co: --vars.checkpoint bert-base-chinese"
        msg.fail(f"The checkpoint {checkpoint!r} cannot be read: {error!s:.300}", remedy, exits=1)
    msg.good(f"{checkpoint} is there")


def main(
    datasets: Annotated[str, typer.Argument(help="Data sets, separated by spaces.")],
    checkpoint: Annotated[str, typer.Option(help="The pretrained encoder, a folder or a Hugging Face name.")],
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
) -> None:
    """Fetch everything, or say which files have to be downloaded by hand, and from where."""
    if checkpoint in ("", "null", "None"):
        msg.fail("No checkpoint given", "The papers' BERT: --vars.checkpoint bert-base-chinese", exits=1)
    folder = find_folder(data_dir) if data_dir else None
    missing = [asset for asset in fetch_assets.read_assets("reproduce") if not fetch_vectors(asset, folder)]
    for asset in missing:
        msg.warn(f"{asset['dest']} is missing. To download it by hand", asset["description"])
    if any("url" in asset for asset in missing):
        remedy = "Run the command again, or, if you have them: --vars.data_dir FOLDER"
        msg.fail("Nothing can be reproduced without these files", remedy, exits=1)
    protect_texts.main(datasets, data_dir=str(folder or ""))
    fetch_weights(find_checkpoint(checkpoint))


if __name__ == "__main__":
    typer.run(main)
