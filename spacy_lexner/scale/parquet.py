"""Writing Parquet files that can be read together: columns and types are the same, as far as the inputs declare any."""

from typing import Any, Dict, Sequence

from .csv_rows import DELIMITERS, CsvRows
from .inputs import format_of
from .readers import open_parquet
from .records import STDIN, InputOptions, Progress, import_arrow
from .results import Wanted, rename_fields


class ParquetWriter:
    """Turns the rows of a shard into a Parquet file."""

    def __init__(self, names: Sequence[str], options: InputOptions, wanted: Wanted) -> None:
        """Choose the columns that every file gets.

        names (Sequence[str]): The inputs, as from `list_inputs`. Raises ValueError if they declare different types for
            a column.
        options (InputOptions): How they are read.
        wanted (Wanted): What is written for a text.
        """
        arrow = import_arrow("")
        declared = [arrow.schema(_declared_types(arrow, name, options).items()) for name in names]
        try:
            inputs = arrow.unify_schemas([arrow.schema([]), *declared], promote_options="permissive")
        except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
            raise _refused(error) from error
        annotation = _annotation_types(arrow)
        self._inputs = {field.name: _writable(arrow, field.type) for field in inputs}
        self._annotation = {name: annotation[name] for name in wanted.columns}

    def __call__(self, rows: Sequence[Dict[str, Any]]) -> bytes:
        """RETURNS (bytes): The file. Raises ValueError if the values of a column have several types."""
        arrow = import_arrow("")
        sink = arrow.BufferOutputStream()
        types = dict(self._inputs)
        try:
            for name in dict.fromkeys(["id", *(name for row in rows for name in row)]):
                if name not in types and name not in self._annotation:
                    types[name] = _writable(arrow, arrow.array([row.get(name) for row in rows]).type)
            schema = arrow.schema({**types, **self._annotation}.items())
            table = arrow.Table.from_pylist(list(rows), schema=schema)
            import_arrow("parquet").write_table(table, sink, compression="zstd")
        except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError, OverflowError) as error:
            raise _refused(error) from error
        return sink.getvalue().to_pybytes()


def _declared_types(arrow: Any, name: str, options: InputOptions) -> Dict[str, Any]:
    """The types of the columns that an input is known to have besides the text; empty for JSON, Docs and a stream."""
    format = format_of(name, options)
    types: Dict[str, Any] = {}
    if format == "parquet":
        with open_parquet(name, options) as file:
            types = {field.name: field.type for field in file.schema_arrow}
    elif format in DELIMITERS and name != STDIN:
        types = dict.fromkeys(CsvRows(name, format, Progress([])).columns, arrow.string())
    elif format != "txt":
        return {}
    types.pop(options.column, None)
    return {"id": arrow.string(), **rename_fields(types)}


def _annotation_types(arrow: Any) -> Dict[str, Any]:
    place = [("start", arrow.int64()), ("end", arrow.int64())]
    reading = [*place, ("text", arrow.string()), ("label", arrow.string())]
    entities = arrow.list_(arrow.struct([*reading, ("score", arrow.float64())]))
    words = [*place, ("word", arrow.string()), ("labels", arrow.list_(arrow.string()))]
    path = [("probability", arrow.float64()), ("entities", arrow.list_(arrow.struct(reading)))]
    return {
        "text": arrow.string(),
        "entities": entities,
        "words": arrow.list_(arrow.struct(words)),
        "alternatives": arrow.list_(arrow.struct(path)),
        "uncertain": entities,
        "lex_version": arrow.string(),
    }


def _writable(arrow: Any, type: Any) -> Any:
    """A column of which nothing is known but nulls would have a type of its own in every file."""
    return arrow.string() if arrow.types.is_null(type) else type


def _refused(error: Exception) -> ValueError:
    return ValueError(
        f"The columns cannot be written as Parquet, which needs one type per column: {error}. Use --to jsonl."
    )
