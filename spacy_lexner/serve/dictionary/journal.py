"""A file of records that survives a crash: each is on the disk before `append` returns.

A record is a line: JSON, a tab, and the CRC-32 of the JSON as eight hexadecimal digits. A crash while a record is being
written leaves a torn last line, which is dropped when the file is opened again: `append` had not returned. Damage
anywhere else is an error, since it loses records that had been confirmed.
"""

import json
import os
from pathlib import Path
from typing import Any, Dict, List, NamedTuple
from zlib import crc32

from .errors import StateError

Record = Dict[str, Any]


class Recovery(NamedTuple):
    """The content of a journal when it was opened."""

    records: List[Record]
    torn_bytes: int  # bytes of an incomplete last record that was dropped


class Journal:
    """A file to which records are appended. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it if needed."""
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.size = os.fstat(self._file).st_size
        self.broken = ""  # why nothing can be appended anymore

    def recover(self) -> Recovery:
        """Read all records, and drop a torn last one. Raises StateError if another one is damaged."""
        data = self.path.read_bytes()
        records: List[Record] = []
        place = 0
        while place < len(data):
            end = data.find(b"\n", place) + 1
            record = _parse(data[place : end - 1]) if end else None
            if record is None:
                if end and end < len(data):
                    raise StateError(
                        f"{self.path}: record {len(records) + 1} (byte {place}) is damaged, and others follow it. "
                        "Restore the file from a backup, or delete the line to continue without that change."
                    )
                os.ftruncate(self._file, place)
                os.fsync(self._file)
                break
            records.append(record)
            place = end
        self.size = place
        return Recovery(records, len(data) - place)

    def append(self, record: Record) -> None:
        """Write a record to the disk. Raises OSError, and leaves the file as it was, if that fails."""
        if self.broken:
            raise OSError(f"{self.path} can no longer be written: {self.broken}. Restart the service.")
        data = dump_record(record)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as error:
            self._take_back(error)
            raise
        self.size += len(data)

    def _take_back(self, reason: OSError) -> None:
        """Remove a partly written record."""
        try:
            os.ftruncate(self._file, self.size)
            os.fsync(self._file)
        except OSError:  # it is unknown what was written, so no other record may follow
            self.broken = str(reason)

    def clear(self) -> None:
        """Remove all records, which are now in a snapshot."""
        os.ftruncate(self._file, 0)
        self.size = 0
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def dump_record(record: Record) -> bytes:
    """Write a record as a line."""
    data = json.dumps(record, separators=(",", ":")).encode("ascii")
    return b"%s\t%08x\n" % (data, crc32(data))


def _parse(line: bytes) -> Any:
    """Read the record on a line; None if it is damaged."""
    data, _, checksum = line.rpartition(b"\t")
    if checksum != b"%08x" % crc32(data):
        return None
    try:
        record = json.loads(data)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
