"""The output folder: a file for each shard, written atomically, and the state of the run."""

import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

import srsly

from ..pipeline.codecs import find_codecs_once
from .records import RECORD_KEY, import_arrow
from .shards import Shard

MANIFEST = "manifest.json"
QUARANTINE = "quarantine.jsonl"
DONE = "done"  # a folder with a file for each finished shard
FORMATS = ("jsonl", "parquet", "spacy")


class OutputError(ValueError):
    """The output folder belongs to another run."""


class Store:
    """An output folder."""

    def __init__(self, folder: Path, settings: Dict[str, Any]) -> None:
        """Resume or begin a run. Raises OutputError, with the difference, if the folder holds one with other
        settings."""
        settings = json.loads(_dump(settings))  # comparable with settings read from JSON
        self.folder = folder
        self.format: str = settings["format"]
        self._done = folder / DONE
        manifest = folder / MANIFEST
        if manifest.exists():
            _compare(srsly.read_json(manifest), settings, folder)
        elif folder.exists() and any(folder.iterdir()):
            raise OutputError(f"{folder} is not empty, but has no {MANIFEST} of a run. Choose a new folder.")
        self._done.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("*.writing"):
            left.unlink()
        if not manifest.exists():
            write_whole(manifest, _dump(settings))

    def finished(self, shard: Shard) -> Optional[Dict[str, Any]]:
        """RETURNS (Optional[Dict]): The counts of a finished shard; None if it is not finished. Raises OutputError if
        it was made from other texts."""
        path = self._done / f"{shard.name}.json"
        if not path.exists():
            return None
        done = srsly.read_json(path)
        if done["content"] != shard.content():
            raise OutputError(
                f"{self.folder}: the input has changed since the run began ({shard.name}, from "
                f"{shard.records[0].place} on, was made from other texts). Choose a new folder."
            )
        return done["counts"]

    def finish(self, shard: Shard, rows: Sequence[Dict[str, Any]], faults: List[Dict[str, Any]], counts: Any) -> None:
        """Write the rows of a shard, then its counts and faults, which mark it as done."""
        path = self.folder / f"{shard.name}.{self.format}"
        write_whole(path, WRITERS[self.format](rows))
        done = {"content": shard.content(), "counts": counts, "quarantine": faults}
        write_whole(self._done / f"{shard.name}.json", _dump(done))

    def close(self) -> None:
        """Write the faults of all shards to one file, once every shard is done."""
        lines = [json.dumps(fault, ensure_ascii=False) + "\n" for fault in self._faults()]
        write_whole(self.folder / QUARANTINE, "".join(lines).encode("utf8"))

    def _faults(self) -> Iterator[Dict[str, Any]]:
        for path in sorted(self._done.glob("*.json")):
            yield from srsly.read_json(path)["quarantine"]


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


def _write_jsonl(rows: Sequence[Dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows).encode("utf8")


def _write_parquet(rows: Sequence[Dict[str, Any]]) -> bytes:
    arrow, parquet = import_arrow(""), import_arrow("parquet")
    sink = arrow.BufferOutputStream()
    try:
        table = arrow.Table.from_pylist(list(rows), schema=_schema(arrow, rows))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise ValueError(
            f"The columns cannot be written as Parquet, which needs one type per column: {error}. Use --to jsonl."
        ) from error
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def _schema(arrow: Any, rows: Sequence[Dict[str, Any]]) -> Any:
    """The column types. Those of annotation are fixed, so that a shard without entities has them too."""
    place = [("start", arrow.int64()), ("end", arrow.int64())]
    entity = arrow.struct([*place, ("text", arrow.string()), ("label", arrow.string()), ("score", arrow.float64())])
    reading = arrow.struct([*place, ("text", arrow.string()), ("label", arrow.string())])
    known = {
        "entities": arrow.list_(entity),
        "uncertain": arrow.list_(entity),
        "words": arrow.list_(arrow.struct([*place, ("word", arrow.string()), ("labels", arrow.list_(arrow.string()))])),
        "alternatives": arrow.list_(
            arrow.struct([("probability", arrow.float64()), ("entities", arrow.list_(reading))])
        ),
        "lex_version": arrow.string(),
    }
    names = list(dict.fromkeys(name for row in rows for name in row))
    return arrow.schema(
        [(name, known.get(name) or arrow.array([row.get(name) for row in rows]).type) for name in names]
    )


def _write_spacy(rows: Sequence[Dict[str, Any]]) -> bytes:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    find_codecs_once()
    vocab, docs = Vocab(), DocBin(store_user_data=True)
    for row in rows:
        doc = Doc(vocab).from_bytes(row["doc"])
        annotation = ("doc", "text", "entities", "words", "alternatives", "uncertain", "lex_version")
        doc.user_data[RECORD_KEY] = {name: value for name, value in row.items() if name not in annotation}
        docs.add(doc)
    return docs.to_bytes()


WRITERS = {"jsonl": _write_jsonl, "parquet": _write_parquet, "spacy": _write_spacy}


def _compare(before: Dict[str, Any], now: Dict[str, Any], folder: Path) -> None:
    found = [
        f"{name} was {before.get(name)!r}, is {now.get(name)!r}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
    if found:
        raise OutputError(f"{folder} holds the output of another run: {'; '.join(found)}. Choose a new folder.")


def _dump(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf8")
