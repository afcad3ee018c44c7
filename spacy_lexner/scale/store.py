"""The output folder: a file for each shard, written atomically, and the state of the run."""

import json
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from filelock import FileLock, Timeout

from ..lexicon.writing import LOCK, whole_file
from .shards import Shard
from .writers import Rows, Writer, write_jsonl

MANIFEST = "manifest.json"
QUARANTINE = "quarantine.jsonl"
SIGNS = {"spacy_lexner", "model", "inputs", "format"}  # settings by which a manifest is known as ours
DONE = "done"  # a folder with a file for each finished shard


class OutputError(ValueError):
    """The output folder belongs to another run, or to something else."""


@contextmanager
def open_store(folder: Path, settings: Dict[str, Any], write: Writer) -> Iterator["Store"]:
    """Resume or begin a run.

    folder (Path): The folder, created if needed. It is locked against other runs until this one ends or its process
        dies.
    settings (Dict[str, Any]): What the output depends on. Raises OutputError, with the difference, if the folder holds
        a finished shard of a run with other settings; also if it holds anything that is not the output of a run, or
        if another run is writing to it.
    write (Writer): Turns the rows of a shard into the contents of its file.
    YIELDS (Store): The folder.
    """
    passing = {LOCK, f".{MANIFEST}.new"}
    begun = folder.exists() and any(path.name not in passing for path in folder.iterdir())
    if begun and not is_output(folder):
        raise OutputError(f"{folder} is not empty, but has no {MANIFEST} of a run. Choose a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        message = f"Another run is writing to {folder}. Wait for it or stop it, or choose another folder."
        raise OutputError(message) from None
    try:
        yield Store(folder, settings, write)
    finally:
        lock.release()


class Store:
    """An output folder, locked by `open_store`."""

    def __init__(self, folder: Path, settings: Dict[str, Any], write: Writer) -> None:
        self.folder, self.format, self.write = folder, settings["format"], write
        self._done = folder / DONE
        manifest = folder / MANIFEST
        if any(self._done.glob("*.json")):
            _compare(_load(manifest), json.loads(_dump(settings)), folder)
            torn: List[Path] = []
        else:
            _write(manifest, _dump(settings))
            self._done.mkdir(exist_ok=True)
            torn = list(folder.glob("part-*"))  # a run may be killed before it marks its first shard as done
        for left in {*torn, *folder.glob(".*.new"), *self._done.glob(".*.new")}:
            left.unlink()

    def finished(self, shard: Shard) -> Optional[Dict[str, Any]]:
        """RETURNS (Optional[Dict]): The counts of a finished shard; None if it is not finished, or its file is no
        longer there. Raises OutputError if it was made from other texts."""
        path = self._done / f"{shard.name}.json"
        if not path.exists():
            return None
        done = _load(path)
        if done["content"] != shard.content():
            raise OutputError(
                f"{self.folder}: the input has changed since the run began ({shard.name}, from "
                f"{shard.records[0].place} on, was made from other texts, or from a file named by another path). "
                "Choose a new folder."
            )
        return done["counts"] if self._part(shard).exists() else None

    def finish(self, shard: Shard, rows: Rows, faults: List[Dict[str, Any]], counts: Any) -> None:
        """Write the rows of a shard, then its counts and faults, which mark it as done."""
        _write(self._part(shard), self.write(rows))
        done = {"content": shard.content(), "counts": counts, "quarantine": faults}
        _write(self._done / f"{shard.name}.json", _dump(done))

    def _part(self, shard: Shard) -> Path:
        return self.folder / f"{shard.name}.{self.format}"

    def close(self, n_shards: int) -> None:
        """Write the faults of all shards to one file, once every shard is done. Raises OutputError if an earlier run
        wrote more shards than there are."""
        paths = [self._done / f"{Shard(number, []).name}.json" for number in range(n_shards)]
        written = {path.stem for path in (*self._done.glob("*.json"), *self.folder.glob(f"part-*.{self.format}"))}
        stale = sorted(written - {path.stem for path in paths})
        if stale:
            raise OutputError(
                f"{self.folder}: the input has changed since the run began (it ends before {stale[0]}, which was made "
                "from texts that are no longer there). Choose a new folder."
            )
        faults = (fault for path in paths for fault in _load(path)["quarantine"])
        _write(self.folder / QUARANTINE, write_jsonl(list(faults)))


def is_output(folder: Path) -> bool:
    """RETURNS (bool): Whether a folder holds the output of a run."""
    try:
        manifest = _load(folder / MANIFEST)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.keys() >= SIGNS


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically. Raises OSError, and leaves nothing behind, if the disk is full."""
    try:
        with whole_file(path) as file:
            file.write(data)
    except OSError as error:
        raise OSError(
            f"{path} cannot be written ({error.strerror or error}). Finished files are kept: run the same command "
            "again once there is room."
        ) from error


def _compare(before: Dict[str, Any], now: Dict[str, Any], folder: Path) -> None:
    found = [
        f"{name} was {before.get(name)!r}, is {now.get(name)!r}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    if found:
        raise OutputError(f"{folder} holds the output of another run: {'; '.join(found)}. Choose a new folder.")


def _dump(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str) + "\n").encode("utf8")


def _load(path: Path) -> Any:
    return json.loads(path.read_bytes())  # srsly reads neither NaN nor long integers
