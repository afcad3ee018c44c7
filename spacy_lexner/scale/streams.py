"""Input files as streams of decompressed bytes and lines."""

import io
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Iterator, NamedTuple, Optional

from ..formats.record import FormatError
from ..formats.source import OPENERS
from ..lexicon.limits import Unpacking, exceeded, limit
from .records import STDIN, Progress, import_arrow

PACKED = (*OPENERS, ".zst")


class Line(NamedTuple):
    """A line, with its end."""

    place: str
    text: str
    fault: Optional[str]  # names the byte that is not UTF-8


def read_lines(name: str, progress: Progress) -> Iterator[Line]:
    """YIELDS (Line): The lines of a file. Only a line feed ends a line. Raises FormatError if one is too long."""
    with open_input(name, progress) as file:
        number, offset = 0, 0
        most = limit("line")
        while raw := file.readline(most + 1):
            number += 1
            place, fault = f"{'stdin' if name == STDIN else name}:{number}", None
            if len(raw) > most:
                raise FormatError(f"{place}: {exceeded('line', 'a line of more bytes')}. Is it a text file?")
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf8")
            except UnicodeDecodeError as error:
                fault = f"byte {offset + error.start} of the file is not UTF-8 ({error.reason})"
                line = raw.decode("utf8", "replace")
            offset += len(raw)
            yield Line(place, line, fault)


@contextmanager
def open_input(name: str, progress: Progress) -> Iterator[BinaryIO]:
    """Open a file, or standard input, as a stream of decompressed bytes."""
    if name == STDIN:
        yield sys.stdin.buffer
        return
    start = progress.done
    with ExitStack() as stack:
        raw = stack.enter_context(open(name, "rb"))
        packed = Path(name).suffix
        if packed == ".zst":
            file = stack.enter_context(import_arrow("").input_stream(raw, compression="zstd"))
        elif packed in OPENERS:
            file = stack.enter_context(OPENERS[packed](raw))
        else:
            file = raw
        if packed in PACKED:
            file = Unpacking(file, name, Path(name).stat().st_size, FormatError)
        yield _Watched(file, raw, start, progress)  # type: ignore[misc]


class _Watched(io.BufferedReader):
    """A reader that reports the position in the file on disk as progress."""

    def __init__(self, file: Any, raw: Any, start: int, progress: Progress) -> None:
        super().__init__(file, 1 << 16)
        self._told = (raw, start, progress)

    def readline(self, size: Optional[int] = -1) -> bytes:
        raw, start, progress = self._told
        progress.done = start + raw.tell()
        return super().readline(size)
