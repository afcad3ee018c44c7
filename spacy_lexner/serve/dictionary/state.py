"""The state directory: a snapshot, the journal of later changes, and a lock."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Dict, List

from ...lexicon.writing import sync_folder, whole_file
from .errors import StateError
from .journal import Journal, Record

MAX_JOURNAL = 4 << 20  # bytes; a longer one is replaced by a snapshot
FORMAT = "spacy-lexner.dictionary-state"


class StateDirectory:
    """Records that survive crashes, and a snapshot that replaces earlier ones. One process at a time may use it.

    records (List[Dict[str, Any]]): The records after the snapshot.
    snapshot (Dict[str, Any]): The latest content given to `save_snapshot`; empty if there is none.
    torn_bytes (int): Bytes of an incomplete last record that was dropped.
    """

    def __init__(self, path: Path) -> None:
        """Open the directory, creating it if needed. Raises StateError if another process uses it, if it cannot be
        written, or if it is damaged."""
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StateError(f"{path}: the state directory cannot be written ({error.strerror}).") from None
        try:
            self._take_lock()
            self.snapshot = self._read_snapshot()
            self._journal = Journal(path / "journal")
            sync_folder(self.path)
            found = self._journal.recover()
        except OSError as error:
            os.close(self._lock)
            raise StateError(f"{error.filename or path}: {error.strerror}.") from None
        except StateError:
            os.close(self._lock)
            raise
        last = self.snapshot.get("last", 0)
        # A crash between writing a snapshot and clearing the journal leaves records that are in the snapshot.
        self.records: List[Record] = [record for record in found.records if record["number"] > last]
        self.torn_bytes = found.torn_bytes

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._lock, 32, 0).decode("ascii", "replace").strip()
            raise StateError(
                f"{self.path}: another service uses this state directory (process {owner or 'unknown'}). Stop it, or "
                "choose another directory."
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def _read_snapshot(self) -> Dict[str, Any]:
        path = self.path / "snapshot.json"
        if not path.exists():
            return {}
        try:
            snapshot = json.loads(path.read_bytes())
            if snapshot["format"] != FORMAT or snapshot["version"] != 1:
                raise ValueError(f"{snapshot['format']} {snapshot['version']}")
        except (ValueError, KeyError, TypeError) as error:
            raise StateError(
                f"{path} is damaged, or from another version ({error}). Restore it from a backup."
            ) from None
        return snapshot

    @property
    def broken(self) -> str:
        """RETURNS (str): Why records can no longer be kept; empty if all is well."""
        return self._journal.broken

    @property
    def is_long(self) -> bool:
        """RETURNS (bool): Whether it is time for a snapshot."""
        return self._journal.size > MAX_JOURNAL

    def append(self, record: Record) -> None:
        """Keep a record, which survives a crash once this returns. Raises OSError, and keeps nothing, on failure."""
        self._journal.append(record)

    def save_snapshot(self, content: Dict[str, Any], last: int) -> None:
        """Replace all records up to number `last` by a snapshot. A crash at any point loses nothing."""
        text = json.dumps({"format": FORMAT, "version": 1, "last": last, **content}, separators=(",", ":"))
        with whole_file(self.path / "snapshot.json") as file:
            file.write(text.encode("ascii"))
        self._journal.clear()

    def close(self) -> None:
        """Release the directory."""
        self._journal.close()
        os.close(self._lock)
