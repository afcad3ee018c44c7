"""`spacy lexner lexicon build`: a lexicon of word lists, dictionaries, tables, word vectors and other lexicons."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer
from wasabi import msg

from ...lexicon.entry import EntryStream
from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.normalization import Normalization
from ...lexicon.readers.any_file import READERS, detect_format, read_any
from ..shared import ForceOption, TargetArgument, failing
from .folder import WatchedStream, check_output, report_skipped, save

ColumnOption = Annotated[
    Optional[str], typer.Option(help="Column of a table, by number from 0 or by name", metavar="COLUMN")
]


def build_cli(
    output: TargetArgument,
    sources: Annotated[
        Optional[List[Path]],
        typer.Argument(metavar="SOURCE...", help="Files, plain or .gz, .bz2, .xz, and folders of lexicons"),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", "-f", help=f"Format of all files: auto, {', '.join(READERS)}", metavar="NAME")
    ] = "auto",
    word: ColumnOption = None,
    weight: ColumnOption = None,
    label: ColumnOption = None,
    entity_id: ColumnOption = None,
    vector: ColumnOption = None,
    dtype: Annotated[str, typer.Option(help="How vectors are stored: float32 or float16", metavar="NAME")] = "float32",
    normalise_case: Annotated[
        bool, typer.Option("--normalise-case", help="Compare words and texts in lower case")
    ] = False,
    normalise_width: Annotated[
        bool, typer.Option("--normalise-width", help="Compare words and texts with full-width forms as half-width")
    ] = False,
    max_word_length: Annotated[int, typer.Option(help="Leave out longer words", metavar="N")] = 64,
    limit: Annotated[
        Optional[int], typer.Option(help="Read at most this many entries of each file", metavar="N")
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help="Encoding of the files", metavar="NAME")] = "utf8",
    errors: Annotated[
        str,
        typer.Option(help="Bytes that cannot be decoded: strict (an error), replace, ignore", metavar="NAME"),
    ] = "strict",
    strict: Annotated[bool, typer.Option("--strict", help="Fail instead of leaving entries out")] = False,
    empty: Annotated[bool, typer.Option("--empty", help="Build a lexicon without words")] = False,
    force: ForceOption = False,
) -> None:
    """Build a lexicon. Of equal words the first counts; its vector is the first that any of them has.

    Formats: words (one per line), jieba (word, number, tag), table (separated by tabs, or .csv), vectors (text format
    of word2vec and fastText). By default the format is detected from the first lines of each file.

    \b
    Examples:
      python -m spacy lexner lexicon build lexicon dict.txt titles.txt.gz vectors.vec.gz --dtype float16
      python -m spacy lexner lexicon build lexicon names.csv --word name --label type --entity-id qid
      python -m spacy lexner lexicon build nothing --empty
    """
    columns = {"word": word, "weight": weight, "label": label, "entity_id": entity_id, "vector": vector}
    with failing("Nothing was written"):
        check_output(output, force)
        if bool(sources) == empty:
            raise LexiconError("Give the files that hold the words, or --empty.")
        settings: Dict[str, Any] = {"limit": limit, "encoding": encoding, "errors": errors}
        streams = [open_source(path, format, settings, columns) for path in sources or []]
        lexicon = Lexicon.from_entries(
            WatchedStream(streams),
            dtype=dtype,  # type: ignore[arg-type]
            normalization=Normalization(case=normalise_case, width=normalise_width),
            max_word_length=max_word_length,
            strict=strict,
            merge=True,
        )
        save(lexicon, output)
    report_skipped(lexicon, duplicates=True)


def open_source(path: Path, format: str, settings: Dict[str, Any], columns: Dict[str, Optional[str]]) -> EntryStream:
    """Open a file, or the folder of a lexicon, and report how it is read. `format` is "auto" or one of READERS; with
    the columns of a table, by number or name, "auto" means "table". `settings` are options of all readers: `limit`,
    `encoding`, `errors`."""
    given = {name: int(column) if column.isdigit() else column for name, column in columns.items() if column}
    if path.is_dir():
        return read_any(path)
    if format == "auto":
        format = "table" if given else detect_format(path, settings["encoding"], settings["errors"])
    msg.info(f"{path}: read as {format}")
    if format != "table":
        return read_any(path, format, **settings)
    if not given:
        msg.warn(f"{path}: only the first column is read, the words. Name the others (--label 1, ...).")
    return read_any(path, format, **settings, **given)
