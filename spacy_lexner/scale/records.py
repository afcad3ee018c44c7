"""The texts to annotate, and the progress of reading them."""

from importlib import import_module
from pathlib import Path
from typing import Any, Dict, NamedTuple, Optional, Sequence

STDIN = "-"
RECORD_KEY = "lex_record"  # in `doc.user_data`: id and other columns


class TextRecord(NamedTuple):
    """A text to annotate, or the reason why there is none."""

    place: str  # file and line or row, from 1
    text: str
    fields: Dict[str, Any] = {}  # noqa: RUF012 (never changed) the other columns
    fault: Optional[str] = None  # why there is no text

    @property
    def id(self) -> Any:
        """RETURNS (Any): The column `id` if there is one, else the place."""
        return self.fields.get("id", self.place)


class InputOptions(NamedTuple):
    """Options for reading inputs."""

    column: str = "text"  # the column or JSON field with the text
    format: str = "auto"  # one of READERS; "auto": by suffix, and lines of text on standard input


class Progress:
    """The progress of reading inputs, in bytes on disk."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.total = sum(Path(name).stat().st_size for name in inputs if name != STDIN)
        self.done = 0


def import_arrow(module: str) -> Any:
    """RETURNS (Any): `pyarrow`, or one of its modules. Raises ImportError with the remedy."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError('Parquet and .zst need pyarrow: pip install "spacy-lexner[data]"') from error
