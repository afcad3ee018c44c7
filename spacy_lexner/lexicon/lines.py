"""The lines of a text file, plain or compressed, one at a time."""

import bz2
import codecs
import gzip
import lzma
import zlib
from pathlib import Path
from typing import IO, Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

from .entry import EntryStream, LexiconEntry
from .errors import LexiconError
from .limits import exceeded, limit, quote, unpack

OPENERS: Dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BOM = "\ufeff"


def read_lines(path: Path, *, encoding: str = "utf8", errors: str = "strict") -> Iterator[Tuple[int, str]]:
    """Read a text file as a stream, decompressed according to its suffix (.gz, .bz2, .xz).

    encoding (str): An encoding in which a line feed is one byte: "utf8", "gbk", "gb18030", "big5".
    errors (str): What to do with bytes that cannot be decoded: "strict" (an error), "replace" or "ignore".
    YIELDS (Tuple[int, str]): Line number from 1, and the line without its end or a byte order mark, which joined files
        have in the middle. Raises LexiconError, with file and line, for a file that is missing, empty, damaged, in
        another encoding, or has a line over the limit, and for an encoding that is unknown or has wider line feeds.
    """
    _check_encoding(path, encoding, errors)
    number, most = 0, limit("entry")
    try:
        with _open(path) as file:
            while data := file.readline(most + 1):
                number += 1
                if len(data) > most:
                    raise LexiconError(
                        f"{path}:{number}: expected one word or vector per line. "
                        f"{exceeded('entry', 'This line has more bytes')}"
                    )
                line = _decode(data, path, number, encoding, errors).rstrip("\r\n")
                yield number, line.removeprefix(BOM)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        raise LexiconError(f"{path}:{number + 1}: cannot be read: truncated or damaged ({error}).") from None
    if not number:
        raise LexiconError(f"{path}: the file is empty.")


def stream_entries(path: Path, numbered: Iterable[Tuple[int, LexiconEntry]]) -> EntryStream:
    """Make a stream of the entries of a file. It raises LexiconError at its end if there were none."""

    def require_some() -> Iterator[Tuple[int, LexiconEntry]]:
        item = None
        for item in numbered:
            yield item
        if item is None:
            raise LexiconError(f"{path}: the file holds no words.")

    return EntryStream(str(path), require_some())


def _open(path: Path) -> IO[bytes]:
    if not path.is_file():
        fault = "a folder, not a file; open a saved lexicon with Lexicon.open" if path.is_dir() else "no such file"
        raise LexiconError(f"{path}: {fault}.")
    opener = OPENERS.get(path.suffix.lower())
    return unpack(opener, path, LexiconError) if opener else path.open("rb")


def _check_encoding(path: Path, encoding: str, errors: str) -> None:
    try:
        wide = b"\n".decode(encoding, "replace") != "\n"
    except LookupError:
        raise LexiconError(f"{path}: unknown encoding {quote(encoding)}. Try utf8, gb18030 or big5.") from None
    except UnicodeError:
        wide = True
    if wide:
        raise LexiconError(
            f"{path}: files in the encoding {quote(encoding)} are not read line by line. Convert the file to UTF-8."
        )
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise LexiconError(f"{path}: errors is {quote(errors)}; expected strict, replace or ignore.") from None


def _decode(data: bytes, path: Path, number: int, encoding: str, errors: str) -> str:
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        guess = _guess_encoding(data)
        looks, option = (f"; it looks like {guess}", f'encoding = "{guess}"') if guess else ("", 'errors = "replace"')
        remedy = f", or set {option} where that is an option"
        if number == 1 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            looks, remedy = "; it looks like UTF-16", ""
        raise LexiconError(
            f"{path}:{number}: not {encoding} (byte 0x{data[error.start]:02x} at {error.start}){looks}. Convert the "
            f"file to UTF-8{remedy}."
        ) from None


def _guess_encoding(data: bytes) -> Optional[str]:
    for encoding in ("gb18030", "big5"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return None
