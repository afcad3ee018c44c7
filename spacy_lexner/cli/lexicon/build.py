"""`spacy lexner lexicon build`: a lexicon of word lists, dictionaries, tables, word vectors and other lexicons."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer
from wasabi import msg

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.normalization import Normalization
from ...lexicon.readers.any_file import READERS, detect_format, read_any
from ...lexicon.stream import EntryStream
from .folder import ForceOption, OutputArgument, WatchedStream, check_output, save, tell_skipped

SourcesArgument = Annotated[
    Optional[List[Path]],
    typer.Argument(metavar="SOURCE...", help="Files, plain or .gz, .bz2, .xz, and folders of lexicons"),
]
FormatOption = Annotated[
    str, typer.Option("--format", "-f", help=f"Format of all files: auto, {', '.join(READERS)}", metavar="NAME")
]
ColumnOption = Annotated[
    Optional[str], typer.Option(help="Of tables: a column, by number from 0 or by name", metavar="COLUMN")
]
DtypeOption = Annotated[str, typer.Option(help="How vectors are stored: float32 or float16", metavar="NAME")]
CaseOption = Annotated[bool, typer.Option("--normalise-case", help="Compare words and texts in lower case")]
WidthOption = Annotated[
    bool, typer.Option("--normalise-width", help="Compare words and texts with full-width forms made ordinary")
]
MaxLengthOption = Annotated[int, typer.Option(help="Leave out longer words", metavar="N")]
LimitOption = Annotated[Optional[int], typer.Option(help="Most entries to read of each file", metavar="N")]
EncodingOption = Annotated[str, typer.Option("--encoding", "-e", help="Encoding of the files", metavar="NAME")]
ErrorsOption = Annotated[
    str,
    typer.Option(help="What happens to bytes that are no text: strict (an error), replace, ignore", metavar="NAME"),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse what would be left out")]
EmptyOption = Annotated[bool, typer.Option("--empty", help="Build a lexicon without words, of no source")]


def build_cli(
    output: OutputArgument,
    sources: SourcesArgument = None,
    format: FormatOption = "auto",
    word: ColumnOption = None,
    weight: ColumnOption = None,
    label: ColumnOption = None,
    entity_id: ColumnOption = None,
    vector: ColumnOption = None,
    dtype: DtypeOption = "float32",
    normalise_case: CaseOption = False,
    normalise_width: WidthOption = False,
    max_word_length: MaxLengthOption = 64,
    limit: LimitOption = None,
    encoding: EncodingOption = "utf8",
    errors: ErrorsOption = "strict",
    strict: StrictOption = False,
    empty: EmptyOption = False,
    force: ForceOption = False,
) -> None:
    """Build a lexicon. Of equal words the first counts; its vector is the first that any of them has.

    Formats: words (one a line), jieba (word, number, tag), table (columns between tabs, or .csv), vectors (text of
    word2vec and fastText). Each file is read as what its first lines look like, unless --format says otherwise.

    \b
    Examples:
      python -m spacy lexner lexicon build lexicon dict.txt titles.txt.gz vectors.vec.gz --dtype float16
      python -m spacy lexner lexicon build lexicon names.csv --word name --label type --entity-id qid
      python -m spacy lexner lexicon build nothing --empty
    """
    columns = {"word": word, "weight": weight, "label": label, "entity_id": entity_id, "vector": vector}
    try:
        check_output(output, force)
        if bool(sources) == empty:
            raise LexiconError("Give the files that the words come from, or else --empty.")
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
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    tell_skipped(lexicon, duplicates=True)


def open_source(path: Path, format: str, settings: Dict[str, Any], columns: Dict[str, Optional[str]]) -> EntryStream:
    """Open a file or a lexicon, and say how it is read.

    path (Path): A file, or the folder of a lexicon.
    format (str): "auto", or one of READERS; a given column makes it "table".
    settings (Dict[str, Any]): What all readers take: `limit`, `encoding`, `errors`.
    columns (Dict[str, Optional[str]]): The columns of a table, by number or name.
    RETURNS (EntryStream): The entries.
    """
    given = {name: int(column) if column.isdigit() else column for name, column in columns.items() if column}
    if path.is_dir():
        return read_any(path)
    if format == "auto":
        format = "table" if given else detect_format(path, settings["encoding"], settings["errors"])
    msg.info(f"{path}: read as {format}")
    if format != "table":
        return read_any(path, format, **settings)
    if not given:
        msg.warn(f"{path}: only its first column is read: the words. Say which columns hold what (--label 1, ...).")
    return read_any(path, format, **settings, **given)
