"""Several streams of entries as one."""

from typing import Iterable, Iterator, Tuple

from ..entry import EntryStream, LexiconEntry


class MergedStream(EntryStream):
    """Concatenated streams; `source` and `line` are those of the current one."""

    def __init__(self, streams: Iterable[EntryStream]) -> None:
        super().__init__("nothing", self._follow(streams))

    def _follow(self, streams: Iterable[EntryStream]) -> Iterator[Tuple[int, LexiconEntry]]:
        for stream in streams:
            self.source = stream.source
            for entry in stream:
                yield stream.line, entry
