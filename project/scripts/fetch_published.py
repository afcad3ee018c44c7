"""Bring what published results start from: the data sets, the vectors that `reproduce/project.yml` names, and the
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
    """RETURNS (Path): The file of vectors that an asset is, or that is made of it if it is an archive."""
    return place.with_name(place.name.replace(".tar.gz", ".txt"))


def unpack(archive: Path) -> Path:
    """Take the largest file out of an archive, completely or not at all.

    archive (Path): The archive, `.tar.gz`; any other file stays as it is.
    RETURNS (Path): The file of vectors. Raises OSError or tarfile.TarError where there is none.
    """
    target = unpacked(archive)
    if target == archive or target.is_file():
        return target
    part = target.with_suffix(".part")
    with tarfile.open(archive) as members, part.open("wb") as file:
        largest = max(members, key=lambda member: member.size if member.isfile() else -1)
        source = members.extractfile(largest)
        if source is None:
            raise tarfile.TarError(f"{archive} holds no file")
        shutil.copyfileobj(source, file)
    return part.replace(target)


def check_vectors(place: Path) -> None:
    """Unpack a file of vectors and read its first row. Raises LexiconError where it is something else, such as a page
    that says why there is no download, and renames it, so that it is brought again."""
    try:
        next(iter(read_word_vectors(unpack(place))))
    except (LexiconError, OSError, tarfile.TarError, EOFError) as error:
        refused = place.replace(place.with_name(f"{place.name}.refused"))
        unpacked(place).unlink(missing_ok=True)
        raise LexiconError(f"{refused} is no file of vectors: {error}") from error


def fetch_weights(checkpoint: str) -> None:
    """Bring the weights and the vocabulary of a Hugging Face model to where transformers keeps them, or exit."""
    from spacy_lexner.encoders.shared.bert_shaped import load_encoder, load_encoder_config, load_tokenizer

    try:
        load_tokenizer(checkpoint)
        load_encoder(checkpoint, load_encoder_config(checkpoint))
    except (OSError, ValueError) as error:
        remedy = "Name a BERT-shaped model, a folder or one of huggingface.co: --vars.checkpoint bert-base-chinese"
        msg.fail(f"The checkpoint {checkpoint!r} cannot be read: {error!s:.300}", remedy, exits=1)
    msg.good(f"{checkpoint} is there")


def main(
    datasets: Annotated[str, typer.Argument(help="Data sets, separated by spaces.")],
    checkpoint: Annotated[str, typer.Option(help="The pretrained encoder, a folder or a Hugging Face name.")],
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
) -> None:
    """Bring everything, or say what has to be brought by hand, and from where."""
    if checkpoint in ("", "null", "None"):
        msg.fail("No checkpoint is named", "Name the BERT of the papers: --vars.checkpoint bert-base-chinese", exits=1)
    folder = find_input(data_dir) if data_dir else None
    missing = []
    for asset in fetch_assets.read_assets("reproduce"):
        place = PROJECT / asset["dest"]
        try:
            if not unpacked(place).is_file() and not fetch_assets.bring(asset, folder):
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
        msg.warn(f"{asset['dest']} has to be brought by hand", asset["description"])
    if any("url" in asset for asset in missing):
        msg.fail("Without these files there is nothing to reproduce", "Or name their folder: --vars.data_dir", exits=1)
    protect_texts.main(datasets, data_dir=str(folder or ""))
    fetch_weights(find_checkpoint(checkpoint))


if __name__ == "__main__":
    typer.run(main)
