"""Entries on their way into a lexicon, each with its place in a file."""

from typing import Iterable, Iterator, Tuple

from .entry import LexiconEntry


class EntryStream(Iterator[LexiconEntry]):
    """A stream of entries that knows its source (a file, or a name for anything else) and the line or number of the
    last entry."""

    def __init__(self, source: str, numbered: Iterable[Tuple[int, LexiconEntry]]) -> None:
        self.source = source
        self.line = 0
        self._numbered = iter(numbered)

    def __next__(self) -> LexiconEntry:
        self.line, entry = next(self._numbered)
        return entry


class MergedStream(EntryStream):
    """Several streams, one after the other; `source` and `line` are those of the current one."""

    def __init__(self, streams: Iterable[EntryStream]) -> None:
        super().__init__("nothing", self._follow(streams))

    def _follow(self, streams: Iterable[EntryStream]) -> Iterator[Tuple[int, LexiconEntry]]:
        for stream in streams:
            self.source = stream.source
            for entry in stream:
                yield stream.line, entry


def to_stream(entries: Iterable[LexiconEntry]) -> EntryStream:
    """The entries, numbered from 1 unless they are a stream already."""
    return entries if isinstance(entries, EntryStream) else EntryStream("entries", enumerate(entries, 1))
