"""Fetch what reproducing published results takes: the data sets, the vectors named in `reproduce/project.yml`, and the
weights of a pretrained encoder."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Annotated

import fetch_assets
import protect_texts
import typer
from paths import PROJECT, find_checkpoint, find_input
from wasabi import msg

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.readers import read_word_vectors


def unpacked(place: Path) -> Path:
    """RETURNS (Path): The vector file of an asset: itself, or what an archive is unpacked to."""
    return place.with_name(place.name.replace(".tar.gz", ".txt"))


def unpack(archive: Path) -> Path:
    """Extract the largest file of an archive, completely or not at all.

    archive (Path): The archive, `.tar.gz`; any other file is left alone.
    RETURNS (Path): The vector file. Raises OSError or tarfile.TarError if there is none.
    """
    target = unpacked(archive)
    if target == archive or target.is_file():
        return target
    part = target.with_suffix(".part")
    with tarfile.open(archive) as members, part.open("wb") as file:
        largest = max(members, key=lambda member: member.size if member.isfile() else -1)
        source = members.extractfile(largest)
        if source is None:
            raise tarfile.TarError(f"{archive} contains no file")
        shutil.copyfileobj(source, file)
    return part.replace(target)


def check_vectors(place: Path) -> None:
    """Unpack a vector file and read its first row. If it is something else, such as an error page, renames it, so that
    it will be fetched again, and raises LexiconError."""
    try:
        next(iter(read_word_vectors(unpack(place))))
    except (LexiconError, OSError, tarfile.TarError, EOFError) as error:
        refused = place.replace(place.with_name(f"{place.name}.refused"))
        unpacked(place).unlink(missing_ok=True)
        raise LexiconError(f"{refused} is not a vector file: {error}") from error


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
    folder = find_input(data_dir) if data_dir else None
    missing = []
    for asset in fetch_assets.read_assets("reproduce"):
        place = PROJECT / asset["dest"]
        try:
            if not unpacked(place).is_file() and not fetch_assets.fetch(asset, folder):
                missing.append(asset)
                continue
            check_vectors(place)
        except LexiconError as error:
            msg.warn(str(error))
            missing.append(asset)
            continue
        if "checksum" not in asset and place.is_file():
            msg.info(f"{asset['dest']}: the publisher gives no checksum; its MD5 is {fetch_assets.md5(place)}")
    for asset in missing:
        msg.warn(f"{asset['dest']} has to be downloaded by hand", asset["description"])
    if any("url" in asset for asset in missing):
        msg.fail("Nothing can be reproduced without these files", "If you have them: --vars.data_dir FOLDER", exits=1)
    protect_texts.main(datasets, data_dir=str(folder or ""))
    fetch_weights(find_checkpoint(checkpoint))


if __name__ == "__main__":
    typer.run(main)
