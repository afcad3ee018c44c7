"""Lines of text files, read in order or looked up at random."""

import gzip
import tempfile
import zlib
from array import array
from contextlib import closing
from pathlib import Path
from typing import IO, Iterable, Iterator, List, Sequence, Tuple

import numpy as np

from ..lexicon.limits import exceeded, limit, unpack

SUFFIXES = (".txt", ".txt.gz")
BOM = b"\xef\xbb\xbf"
_SHOWN = 30


def find_text_files(paths: Iterable[Path]) -> List[Path]:
    """List the text files under the given paths.

    paths (Iterable[Path]): Files of any name, and folders, which are searched for *.txt and *.txt.gz.
    RETURNS (List[Path]): The files, sorted within each folder. Raises ValueError if a path does not exist or a folder
        holds no text.
    """
    files: List[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(file for suffix in SUFFIXES for file in path.rglob(f"*{suffix}") if file.is_file())
            if not found:
                raise ValueError(f"The folder {path} holds no text: expected files ending in {' or '.join(SUFFIXES)}.")
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise ValueError(f"There is no text file {path}.")
    return files


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file.

    path (Path): The file: UTF-8, plain or gzip.
    YIELDS (str): The lines without their ends. Raises ValueError, with the line's number, if one is not UTF-8 or over
        the limit.
    """
    for _, text in _read_raw(path):
        yield text


class TextIndex:
    """The places of lines, or of paragraphs between blank lines, in text files; takes eight bytes of memory for each. A
    context manager: gzip files are unpacked to a temporary file, which is deleted on exit."""

    def __init__(self, paths: Sequence[Path], *, paragraphs: bool) -> None:
        """Scan the files once, for paragraphs or for lines. Raises ValueError as `read_lines` does."""
        self.paths = list(paths)
        self.paragraphs = paragraphs
        self._spool = tempfile.SpooledTemporaryFile(max_size=1 << 20)  # noqa: SIM115
        try:
            found = [self._find_starts(path) for path in self.paths]
        except BaseException:
            self._spool.close()
            raise
        self._borders = np.cumsum([0, *map(len, found)])
        self._offsets = np.concatenate([np.zeros(0, "i8"), *(np.frombuffer(part, "i8") for part in found)])

    def __enter__(self) -> "TextIndex":
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._offsets)

    def read(self, number: int) -> List[str]:
        """The lines of paragraph (or line) `number`. Blank lines are not numbered."""
        path = self.paths[int(np.searchsorted(self._borders, number, "right")) - 1]
        offset = int(self._offsets[number])
        if path.suffix == ".gz":
            return self._read(self._spool, offset)
        with path.open("rb") as file_:
            return self._read(file_, offset)

    def _read(self, file_: IO[bytes], offset: int) -> List[str]:
        file_.seek(offset)
        lines: List[str] = []
        for line in iter(file_.readline, b""):
            text = line.decode("utf-8").rstrip("\r\n")
            if not text.strip() or (lines and not self.paragraphs):
                break
            lines.append(text)
        return lines

    def _find_starts(self, path: Path) -> "array[int]":
        starts = array("q")
        inside, spooled = False, path.suffix == ".gz"
        offset = self._spool.tell() if spooled else 0
        for number, (line, text) in enumerate(_read_raw(path), 1):
            blank = not text.strip()
            if not blank and not (self.paragraphs and inside):
                starts.append(offset + (len(BOM) if number == 1 and line.startswith(BOM) else 0))
            inside = not blank
            offset += len(line)
            if spooled:
                self._spool.write(line)
        if spooled:  # nothing of the next file continues the last line of this one
            self._spool.write(b"\n\n")
        return starts


def _read_raw(path: Path) -> Iterator[Tuple[bytes, str]]:
    """The lines of a file, as bytes and as text."""
    most = limit("line")
    with closing(unpack(gzip.open, path, ValueError) if path.suffix == ".gz" else path.open("rb")) as file_:
        try:
            for number, line in enumerate(iter(lambda: file_.readline(most + 1), b""), 1):
                if len(line) > most:
                    raise ValueError(f"{path}, line {number}: {exceeded('line', 'it has more bytes')}")
                yield line, _decode(line, path, number)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a complete gzip file ({error}).") from error


def _decode(line: bytes, path: Path, number: int) -> str:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        shown = line[max(0, error.start - 10) :][:_SHOWN]
        raise ValueError(
            f"{path}, line {number}, byte {error.start + 1} is not UTF-8 ({shown!r}). If the text is GBK, convert it: "
            f"iconv -f GB18030 -t UTF-8 {path.name} > utf8.txt"
        ) from error
    return text.rstrip("\r\n")
