"""The lines of a text file, plain or compressed, one at a time."""

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import IO, Any, Callable, Dict, Iterable, Iterator, Optional, Tuple, TypeVar

from ..errors import LexiconError

OPENERS: Dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAX_LINE = 1 << 18  # bytes: twice as many as 8,192 dimensions take
BOM = "\ufeff"
T = TypeVar("T")


def read_lines(path: Path, *, encoding: str = "utf8", errors: str = "strict") -> Iterator[Tuple[int, str]]:
    """Read a text file as a stream. It is uncompressed as its suffix says (.gz, .bz2, .xz).

    path (Path): The file.
    encoding (str): Its encoding, in which a line feed is one byte: "utf8", "gbk", "gb18030", "big5".
    errors (str): What happens to bytes that make no sense in it: "strict" (an error), "replace" or "ignore".
    YIELDS (Tuple[int, str]): Line number from 1, and the line without its end. Raises LexiconError, with file and line,
        for a file that is missing, empty, damaged, in another encoding, or holds a line of more than 256 kB.
    """
    number = 0
    try:
        with _open(path) as file:
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise LexiconError(
                        f"{path}:{number}: a line of more than {MAX_LINE} bytes. This is no list of words or vectors; "
                        "one entry a line is expected."
                    )
                line = _decode(data, path, number, encoding, errors).rstrip("\r\n")
                yield number, line.removeprefix(BOM) if number == 1 else line
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        raise LexiconError(
            f"{path}:{number + 1}: cannot be read: the file is cut short or damaged ({error})."
        ) from None
    if not number:
        raise LexiconError(f"{path}: the file is empty.")


def _open(path: Path) -> IO[bytes]:
    if not path.is_file():
        kind = "it is a folder" if path.is_dir() else "no such file"
        raise LexiconError(
            f"{path}: {kind}. A lexicon is read from a file; Lexicon.open reads a saved lexicon's folder."
        )
    return OPENERS.get(path.suffix, open)(path, "rb")


def _decode(data: bytes, path: Path, number: int, encoding: str, errors: str) -> str:
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        guess = _guess_encoding(data)
        remedy = f'it looks like {guess}: give encoding = "{guess}"' if guess else "convert the file"
        raise LexiconError(
            f"{path}:{number}: not {encoding} (byte 0x{data[error.start]:02x} at {error.start}); {remedy}, or give "
            'errors = "replace".'
        ) from None


def _guess_encoding(data: bytes) -> Optional[str]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return None
    for encoding in ("gb18030", "big5"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return None


def require_some(path: Path, numbered: Iterable[T]) -> Iterator[T]:
    """YIELDS (T): The same things. Raises LexiconError if there are none."""
    empty = True
    for item in numbered:
        empty = False
        yield item
    if empty:
        raise LexiconError(f"{path}: the file holds no words.")
