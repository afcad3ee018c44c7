"""The output folder: a file for each shard, written atomically, and the state of the run."""

import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from ..pipeline.codecs import find_codecs_once
from .records import RECORD_KEY
from .results import ANNOTATION
from .shards import Shard

MANIFEST = "manifest.json"
QUARANTINE = "quarantine.jsonl"
DONE = "done"  # a folder with a file for each finished shard
FORMATS = ("jsonl", "parquet", "spacy")
Rows = Sequence[Dict[str, Any]]
Writer = Callable[[Rows], bytes]


class OutputError(ValueError):
    """The output folder belongs to another run."""


class Store:
    """An output folder."""

    def __init__(self, folder: Path, settings: Dict[str, Any], write: Writer) -> None:
        """Resume or begin a run.

        folder (Path): The folder.
        settings (Dict[str, Any]): What the output depends on. Raises OutputError, with the difference, if the folder
            holds a finished shard of a run with other settings.
        write (Writer): Turns the rows of a shard into the contents of its file.
        """
        self.folder, self.format, self.write = folder, settings["format"], write
        self._done = folder / DONE
        manifest = folder / MANIFEST
        if not manifest.exists() and folder.exists() and any(folder.iterdir()):
            raise OutputError(f"{folder} is not empty, but has no {MANIFEST} of a run. Choose a new folder.")
        self._done.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("*.writing"):
            left.unlink()
        if any(self._done.glob("*.json")):
            _compare(_load(manifest), json.loads(_dump(settings)), folder)
        else:
            for left in folder.glob("part-*"):  # a run may be killed before it marks its first shard as done
                left.unlink()
            write_whole(manifest, _dump(settings))

    def finished(self, shard: Shard) -> Optional[Dict[str, Any]]:
        """RETURNS (Optional[Dict]): The counts of a finished shard; None if it is not finished. Raises OutputError if
        it was made from other texts."""
        path = self._done / f"{shard.name}.json"
        if not path.exists():
            return None
        done = _load(path)
        if done["content"] != shard.content():
            raise OutputError(
                f"{self.folder}: the input has changed since the run began ({shard.name}, from "
                f"{shard.records[0].place} on, was made from other texts). Choose a new folder."
            )
        return done["counts"]

    def finish(self, shard: Shard, rows: Rows, faults: List[Dict[str, Any]], counts: Any) -> None:
        """Write the rows of a shard, then its counts and faults, which mark it as done."""
        path = self.folder / f"{shard.name}.{self.format}"
        write_whole(path, self.write(rows))
        done = {"content": shard.content(), "counts": counts, "quarantine": faults}
        write_whole(self._done / f"{shard.name}.json", _dump(done))

    def close(self) -> None:
        """Write the faults of all shards to one file, once every shard is done."""
        write_whole(self.folder / QUARANTINE, _write_jsonl(list(self._faults())))

    def _faults(self) -> Iterator[Dict[str, Any]]:
        for path in sorted(self._done.glob("*.json")):
            yield from _load(path)["quarantine"]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically. Raises OSError, and leaves nothing behind, if the disk is full."""
    writing = path.with_name(f"{path.name}.writing")
    try:
        with writing.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        writing.unlink(missing_ok=True)
        raise OSError(
            f"{path} cannot be written ({error.strerror or error}). Finished files are kept: run the same command "
            "again once there is room."
        ) from error
    writing.replace(path)


def _write_jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows).encode("utf8")


def _write_spacy(rows: Rows) -> bytes:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    find_codecs_once()
    vocab, docs = Vocab(), DocBin(store_user_data=True)
    for row in rows:
        doc = Doc(vocab).from_bytes(row["doc"])
        record = {name: value for name, value in row.items() if name not in ANNOTATION}
        doc.user_data[RECORD_KEY] = json.loads(json.dumps(record, default=str))  # msgpack has no dates, for example
        docs.add(doc)
    return docs.to_bytes()


WRITERS: Dict[str, Writer] = {"jsonl": _write_jsonl, "spacy": _write_spacy}


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
