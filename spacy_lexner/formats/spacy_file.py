"""spaCy's own binary files of Docs."""

from pathlib import Path
from typing import Iterator, List, Union

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from .record import FormatError


def list_spacy_files(path: Union[str, Path]) -> List[Path]:
    """A `.spacy` file, or all those in a folder, sorted. Raises FileNotFoundError if there is none."""
    path = Path(path)
    files = sorted(path.rglob("*.spacy")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise FileNotFoundError(f"No .spacy file in {path}. Convert annotated files with lexner convert.")
    return files


def read_docs(path: Union[str, Path]) -> Iterator[Doc]:
    """Read the Docs of a `.spacy` file. Raises FormatError for any other file."""
    try:
        yield from DocBin().from_disk(path).get_docs(Vocab())
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FormatError(f"{path}: not a .spacy file, or a damaged one ({error}).") from error
