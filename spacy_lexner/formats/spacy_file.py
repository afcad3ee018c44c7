"""Reading spaCy's own binary files of Docs."""

import io
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Iterable, Iterator, List, Union

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..lexicon.limits import Unpacking, exceeded, limit, quote
from ..pipeline.codecs import find_codecs_once
from .record import FormatError
from .source import CHUNK


def list_spacy_files(path: Union[str, Path]) -> List[Path]:
    """List a `.spacy` file, or all those in a folder, sorted. Raises FileNotFoundError if there is none."""
    path = Path(path)
    files = sorted(path.rglob("*.spacy")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        where = f"in {path}" if path.is_dir() else f"at {path}"
        raise FileNotFoundError(f"No .spacy file {where}. Convert annotated files with lexner convert.")
    return files


def read_docs(path: Union[str, Path]) -> Iterator[Doc]:
    """Read the Docs of a `.spacy` file. Raises FormatError for any other file, and for one over the limits."""
    find_codecs_once()
    try:
        if Path(path).stat().st_size > limit("file"):
            raise FormatError(f"{path}: {exceeded('file', 'more bytes')}; or write several into a folder.")
        data = Path(path).read_bytes()
        _check_unpacked(data, str(path))
        yield from DocBin().from_bytes(data).get_docs(Vocab())
    except FormatError:
        raise
    except Exception as error:  # spaCy does not check files, so damage can fail anywhere
        found = f"{type(error).__name__}: {quote(str(error))}"
        raise FormatError(
            f"{path}: not a .spacy file, or a damaged one ({found}). Convert or copy it again."
        ) from error


def read_all(path: Union[str, Path]) -> Iterator[Doc]:
    """YIELDS (Doc): The Docs of a `.spacy` file, or of all in a folder."""
    for file in list_spacy_files(path):
        yield from read_docs(file)


def write_docs(docs: Iterable[Doc], path: Union[str, Path]) -> None:
    """Write Docs as a `.spacy` file."""
    find_codecs_once()
    DocBin(docs=docs).to_disk(path)


def is_annotated(doc: Doc) -> bool:
    """RETURNS (bool): Whether any token of a Doc is annotated as inside or outside entities."""
    return len(doc) > 0 and doc.has_annotation("ENT_IOB")


def read_annotated(path: Union[str, Path]) -> Iterator[Doc]:
    """YIELDS (Doc): The Docs of a `.spacy` file, or of all in a folder, that are annotated with entities. Raises
    ValueError if there are none."""
    found = False
    for doc in filter(is_annotated, read_all(path)):
        found = True
        yield doc
    if not found:
        raise ValueError(f"{path}: no text is annotated with entities.")


def _check_unpacked(packed: bytes, name: str) -> None:
    """Unpack a file without keeping it, to check its size before spaCy takes memory for all of it."""
    unpacker = zlib.decompressobj()

    def read(size: int) -> bytes:
        return unpacker.decompress(unpacker.unconsumed_tail or file.read(CHUNK), size)

    with io.BytesIO(packed) as file:
        unpacked = Unpacking(SimpleNamespace(read=read), name, len(packed), FormatError)  # type: ignore[arg-type]
        while unpacked.read(CHUNK):
            pass
