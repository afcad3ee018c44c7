"""Texts for commands that want nothing else: of raw text, `.spacy` files, and every annotated format."""

from pathlib import Path
from typing import Annotated, Iterable, Iterator

import typer

from ..formats.read import READERS, list_inputs, read_records
from ..formats.record import FormatError, ReadOptions
from ..formats.report import Report
from ..formats.source import Source, read_lines
from ..formats.spacy_file import read_docs

TEXT_SUFFIXES = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz")

TextFormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        help=f"Format of the texts: auto, text (one a line), spacy, {', '.join(READERS)}",
        metavar="NAME",
    ),
]


def read_texts(paths: Iterable[Path], format: str = "auto") -> Iterator[str]:
    """Read the texts of files, one after the other.

    paths (Iterable[Path]): Files, archives, and folders of them.
    format (str): "text" for one a line; "spacy"; one of `formats.read.READERS`; or "auto": `.spacy` and `.txt` files
        (also compressed) are what they are called, the others are looked into.
    YIELDS (str): The texts, without blank ones. Raises FormatError, with file and line, where a file is wrong, and
        where there is no text at all.
    """
    paths, found = list(paths), False
    for path in paths:
        for source in list_inputs(path, format):
            for text in _read(source, format):
                if text.strip():
                    found = True
                    yield text
    if not found:
        raise FormatError(f"There is no text in {', '.join(map(str, paths))}.")


def _read(source: Source, format: str) -> Iterator[str]:
    if format == "spacy" or (format == "auto" and source.path.suffix == ".spacy"):
        for doc in read_docs(source.path):
            yield doc.text
    elif format == "text" or (format == "auto" and source.name.endswith(TEXT_SUFFIXES)):
        yield from (line for _, line in read_lines(source, ReadOptions(), Report()))
    else:
        yield from (record.text for record in read_records(source, format, ReadOptions(repair=True), Report()))
