"""JSON files written as a whole, so that a killed process leaves none incomplete."""

import json
from pathlib import Path
from typing import Any, Iterable, List

from ..lexicon.writing import whole_file


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file. It gets its name once it is completely on the disk; until then an earlier one stays."""
    _write(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write a file with one JSON value per line, as `write_json` does."""
    _write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_json(path: Path) -> Any:
    """RETURNS (Any): The value in a JSON file. Raises ValueError, with the file's name, if it is damaged."""
    return _parse(path, path.read_bytes(), str(path))


def read_jsonl(path: Path) -> List[Any]:
    """RETURNS (List[Any]): The values in a file with one per line. Raises ValueError as `read_json` does."""
    lines = path.read_bytes().split(b"\n")
    return [_parse(path, line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode("utf8"))


def _parse(path: Path, data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{place}: not JSON, or damaged ({error}). Restore it from a copy, or delete {path.parent} to start again."
        ) from None
