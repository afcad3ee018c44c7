"""Writers of output files, one for each format; for Parquet see `ParquetWriter`."""

import json
from typing import Any, Callable, Dict, Sequence, Union

from ..pipeline.codecs import find_codecs_once
from .records import RECORD_KEY
from .results import ANNOTATION

FORMATS = ("jsonl", "parquet", "spacy")
Rows = Sequence[Dict[str, Any]]
Writer = Callable[[Rows], bytes]


def write_jsonl(rows: Rows) -> bytes:
    return "".join(f"{_dump(row)}\n" for row in rows).encode("utf8")


def _dump(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: these become null."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        numbers = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
        return json.dumps(numbers, ensure_ascii=False)


def _write_spacy(rows: Rows) -> bytes:
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    find_codecs_once()
    vocab, docs = Vocab(), DocBin(store_user_data=True)
    for row in rows:
        doc = Doc(vocab).from_bytes(row["doc"])
        record = {name: value for name, value in row.items() if name not in ANNOTATION}
        # msgpack has neither dates, for example, nor longer integers: both become strings
        doc.user_data[RECORD_KEY] = json.loads(json.dumps(record, default=str), parse_int=_read_integer)
        docs.add(doc)
    return docs.to_bytes()


def _read_integer(digits: str) -> Union[int, str]:
    number = int(digits)
    return number if -(1 << 63) <= number < 1 << 64 else digits


WRITERS: Dict[str, Writer] = {"jsonl": write_jsonl, "spacy": _write_spacy}
