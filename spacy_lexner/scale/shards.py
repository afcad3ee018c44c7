"""Dividing the work into shards, one output file each, and shards into batches, which are annotated together.

Where a shard or batch ends depends on the texts and options only, never on workers or time, so that the output is the
same to the byte however often the work is interrupted.
"""

import hashlib
import json
from typing import Iterable, Iterator, List, NamedTuple

from .records import TextRecord


class Shard(NamedTuple):
    """Consecutive texts, which become one output file."""

    number: int
    records: List[TextRecord]

    @property
    def name(self) -> str:
        """RETURNS (str): The name of its files, without a suffix."""
        return f"part-{self.number:05d}"

    def content(self) -> str:
        """RETURNS (str): A hash of its records."""
        content = hashlib.sha256()
        for record in self.records:
            content.update(json.dumps(record, ensure_ascii=False, default=str).encode("utf8", "surrogatepass"))
        return content.hexdigest()

    def batches(self, max_characters: int) -> Iterator[List[int]]:
        """YIELDS (List[int]): The indices of the texts of a batch: at most this many characters, or a single longer
        text. Records without a text are left out."""
        batch: List[int] = []
        total = 0
        for index, record in enumerate(self.records):
            if record.fault is None:
                if batch and total + len(record.text) > max_characters:
                    yield batch
                    batch, total = [], 0
                batch.append(index)
                total += len(record.text)
        if batch:
            yield batch


def cut_shards(records: Iterable[TextRecord], max_texts: int, max_characters: int) -> Iterator[Shard]:
    """YIELDS (Shard): The records, in order, in shards of at most `max_texts` texts and `max_characters` characters, or
    of a single longer text."""
    shard: List[TextRecord] = []
    number, total = 0, 0
    for record in records:
        if shard and (len(shard) >= max_texts or total + len(record.text) > max_characters):
            yield Shard(number, shard)
            shard, number, total = [], number + 1, 0
        shard.append(record)
        total += len(record.text)
    if shard:
        yield Shard(number, shard)
