"""`spacy lexner lexicon build`: a lexicon from word lists, dictionaries, tables, word vectors and other lexicons."""

from typing import Annotated, Any, Dict, List, Optional

import typer

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.normalization import SCRIPTS, Normalization
from ...lexicon.readers.any_file import READERS
from ..shared import ForceOption, TargetArgument, failing, status
from .folder import replacing, save
from .sources import (
    MAX_DROPPED,
    MaxDroppedOption,
    StrictOption,
    WatchedStream,
    check_dropped,
    open_source,
    plan_sources,
    report_skipped,
)

ColumnOption = Annotated[
    Optional[str], typer.Option(help="Column of a table, by number from 0 or by name", metavar="COLUMN")
]


def build_cli(
    output: TargetArgument,
    sources: Annotated[
        Optional[List[str]],
        typer.Argument(
            metavar="SOURCE...",
            help="Files, plain or .gz, .bz2, .xz, and folders of lexicons; LABEL=PATH labels words without one",
        ),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", "-f", help=f"Format of all files: auto, {', '.join(READERS)}", metavar="NAME")
    ] = "auto",
    word: ColumnOption = None,
    weight: ColumnOption = None,
    label: Annotated[
        Optional[str],
        typer.Option(help="Column of a table; without tables, the label of the words in plain lists", metavar="COLUMN"),
    ] = None,
    entity_id: ColumnOption = None,
    vector: ColumnOption = None,
    dtype: Annotated[str, typer.Option(help="How vectors are stored: float32 or float16", metavar="NAME")] = "float32",
    normalise_case: Annotated[
        bool, typer.Option("--normalise-case", help="Compare words and texts in lower case")
    ] = False,
    normalise_width: Annotated[
        bool, typer.Option("--normalise-width", help="Treat full-width characters as their half-width forms")
    ] = False,
    script: Annotated[
        Optional[str],
        typer.Option(help=f"Compare words and texts in this script: {', '.join(SCRIPTS)}", metavar="NAME"),
    ] = None,
    max_word_length: Annotated[int, typer.Option(help="Leave out longer words", metavar="N")] = 64,
    limit: Annotated[
        Optional[int], typer.Option(help="Read at most this many entries of each file", metavar="N", min=1)
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help="Encoding of the files", metavar="NAME")] = "utf8",
    errors: Annotated[
        str,
        typer.Option(help="Bytes that cannot be decoded: strict (an error), replace, ignore", metavar="NAME"),
    ] = "strict",
    strict: StrictOption = False,
    max_dropped: MaxDroppedOption = MAX_DROPPED,
    empty: Annotated[bool, typer.Option("--empty", help="Build a lexicon without words")] = False,
    force: ForceOption = False,
) -> None:
    """Build a lexicon. Of equal words the first counts, with the labels of all and the first vector that any has.

    Formats: words (one per line), jieba (word, number, tag), table (separated by tabs, or .csv), vectors (text format
    of word2vec and fastText). By default the format is detected from the first lines of each file. Columns are those of
    the tables among the files.

    \b
    Examples:
      python -m spacy lexner lexicon build lexicon dict.txt titles.txt.gz vectors.vec.gz --dtype float16
      python -m spacy lexner lexicon build lexicon names.csv --word name --label type --entity-id qid
      python -m spacy lexner lexicon build lexicon typed.tsv vectors.vec.gz --word 0 --label 1
      python -m spacy lexner lexicon build lexicon brand=brands.txt product=products.txt
      python -m spacy lexner lexicon build lexicon dict.txt --script simplified
      python -m spacy lexner lexicon build nothing --empty
    """
    given = {"word": word, "weight": weight, "label": label, "entity_id": entity_id, "vector": vector}
    with failing("Nothing was written"), replacing(output, force):
        if bool(sources) == empty:
            raise LexiconError("Give the files that hold the words, or --empty.")
        settings: Dict[str, Any] = {"limit": limit, "encoding": encoding, "errors": errors}
        columns = {name: int(column) if column.isdecimal() else column for name, column in given.items() if column}
        plan = plan_sources(sources or [], format, settings, columns)
        stream = WatchedStream([open_source(source, settings, columns) for source in plan])
        with status(f"building {output}"):
            lexicon = Lexicon.from_entries(
                stream,
                dtype=dtype,  # type: ignore[arg-type]
                normalization=Normalization(case=normalise_case, width=normalise_width, script=script),
                max_word_length=max_word_length,
                strict=strict,
                merge=True,
            )
        check_dropped(lexicon.report, stream, max_dropped)
        save(lexicon, output, force)
    report_skipped(lexicon.report, duplicates=True)
