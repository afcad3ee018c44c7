"""`spacy lexner convert`: annotated files to `.spacy`."""

import os
import re
from pathlib import Path
from typing import Annotated, Callable, Iterator, List, NamedTuple, Optional

import typer
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from wasabi import msg

from ...formats.docs import add_entities, make_word_doc
from ...formats.offsets import UNITS
from ...formats.read import READERS, list_inputs, read_records
from ...formats.record import FormatError, ReadOptions, Record
from ...formats.report import Report
from ...formats.source import Source
from ...formats.tags import SCHEMES
from ...lexicon.writing import whole_file
from ...pipeline.char_tokenizer import CharTokenizer
from ..shared import failing, load_pipeline, progress

SUFFIXES = {
    "gz",
    "bz2",
    "xz",
    "conll",
    "conllu",
    "char",
    "ner",
    "txt",
    "tsv",
    "utf8",
    "json",
    "jsonl",
    "yml",
    "yaml",
    *SCHEMES,
}


OffsetsOption = Annotated[
    str, typer.Option(help=f"Unit of offsets in files of annotation tools: auto, {', '.join(UNITS)}", metavar="NAME")
]


class Converted(NamedTuple):
    """A written `.spacy` file, its source, and the report of its contents and problems."""

    source: Source
    path: Path
    report: Report


def convert_cli(
    input_path: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="A file (also .gz, .bz2, .xz), a folder, a zip archive or a member of one (archive.zip/member)",
        ),
    ],
    output_path: Annotated[Path, typer.Argument(metavar="OUT", help="A .spacy file, or a folder")],
    format: Annotated[
        str, typer.Option("--format", "-f", help=f"Format of the input: auto, {', '.join(READERS)}", metavar="NAME")
    ] = "auto",
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help=f"Tags of CoNLL files: auto, {', '.join(SCHEMES)}", metavar="NAME")
    ] = "auto",
    repair: Annotated[
        bool, typer.Option("--repair", "-r", help="Repair illegal tags and wrong offsets, and report it")
    ] = False,
    encoding: Annotated[
        str, typer.Option("--encoding", "-e", help="Encoding of the input, such as gb18030", metavar="NAME")
    ] = "utf-8",
    errors: Annotated[
        str, typer.Option(help="Bytes that cannot be decoded: strict (an error) or replace", metavar="NAME")
    ] = "strict",
    tokenizer: Annotated[
        str,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="NAME",
            help="char (one token per character), words (of the file), auto (words if annotated, else char), or "
            "a pipeline, such as blank:zh",
        ),
    ] = "auto",
    digit_suffix: Annotated[
        str,
        typer.Option(
            help="Whether words end with a digit that is not text, as in Weibo's first edition (名0): auto, yes, no",
            metavar="NAME",
        ),
    ] = "auto",
    space_symbol: Annotated[
        str, typer.Option(help="Symbol for a space in CoNLL files, such as ␣", metavar="SYMBOL")
    ] = "",
    offsets: OffsetsOption = "auto",
    spans_key: Annotated[
        Optional[str],
        typer.Option(help="Also write all entities, even overlapping ones, to these spans", metavar="KEY"),
    ] = None,
) -> None:
    """Convert annotated texts to .spacy files, for training and evaluation.

    The report lists everything that was changed or left out. An invalid file is refused with the place of the first
    error; --repair repairs what it can.

    \b
    Examples:
      python -m spacy lexner convert train.char.bmes corpus/train.spacy
      python -m spacy lexner convert cluener/ corpus/ --format clue
      python -m spacy lexner convert zh_gsd-ud-train.conllu corpus/train.spacy
      python -m spacy lexner convert pku_training.utf8 corpus/train.spacy --format word-text
      python -m spacy lexner convert train.conll corpus/train.spacy --format word-tags
      python -m spacy lexner convert MSRA.zip/msra_train_bio corpus/train.spacy
      python -m spacy lexner convert weibo/ corpus/ --repair
      python -m spacy lexner convert label-studio-export.json corpus/train.spacy
      python -m spacy lexner convert brat/data/news corpus/news.spacy --spans-key sc
      python -m spacy lexner convert old.txt corpus/ --encoding gb18030 --scheme bmes
    """
    with failing("Nothing more was converted"):
        options = ReadOptions(encoding, errors, repair, scheme, digit_suffix, space_symbol, offsets)
        for converted in convert(
            input_path, output_path, format=format, options=options, tokenizer=tokenizer, spans_key=spans_key
        ):
            _print_report(converted)


def convert(
    input_path: Path,
    output_path: Path,
    *,
    format: str = "auto",
    options: Optional[ReadOptions] = None,
    tokenizer: str = "auto",
    spans_key: Optional[str] = None,
) -> Iterator[Converted]:
    """Convert annotated files to `.spacy`, one at a time.

    input_path (Path): A file, a folder, a zip archive or a member of one.
    output_path (Path): A `.spacy` file, or a folder, which gets `train.spacy` for `train.char.bmes`.
    format (str): One of `formats.read.READERS`, or "auto".
    options (Optional[ReadOptions]): Encoding, tag scheme and repairs; the defaults if None.
    tokenizer (str): "auto", "char", "words" or a pipeline.
    spans_key (Optional[str]): Also write all entities to these spans.
    YIELDS (Converted): Each file, once it is written. Raises FormatError or OSError if one is invalid or unreadable.
    """
    options = options if options is not None else ReadOptions()
    make_doc = get_doc_maker(tokenizer)
    sources = list_inputs(input_path, format)
    for source, path in zip(sources, _plan_outputs(sources, Path(input_path), Path(output_path))):
        report = Report()
        docs = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"])
        records = read_records(source, format, options, report)
        for record in progress(records, desc=source.name):
            if record.segmented and tokenizer not in ("auto", "words"):
                report.add_problem(f"words of the file left out, for the tokens of {tokenizer!r}", record.place)
            docs.add(add_entities(make_doc(record), record, report, spans_key=spans_key))
        _write(docs, path)
        yield Converted(source, path, report)


def get_doc_maker(tokenizer: str) -> Callable[[Record], Doc]:
    """Get a function that turns a record into a tokenized Doc without entities. `tokenizer` is "auto", "char", "words",
    or the name or folder of a pipeline, such as "blank:zh". Raises OSError if there is no such pipeline, and
    ValueError if it cannot be loaded."""
    vocab = Vocab()
    named = tokenizer in ("auto", "words", "char")
    tokenize = CharTokenizer(vocab) if named else load_pipeline(tokenizer).tokenizer

    def make_doc(record: Record) -> Doc:
        if tokenizer == "words" or (tokenizer == "auto" and record.segmented):
            return make_word_doc(record, vocab)
        return tokenize(record.text)

    return make_doc


def _plan_outputs(sources: List[Source], input_path: Path, output_path: Path) -> List[Path]:
    """The output file of each source."""
    if output_path.is_file() and output_path.suffix != ".spacy":
        raise FormatError(f"{output_path} is a file. Give a .spacy file or a folder to write.")
    if output_path.suffix == ".spacy":
        if len(sources) > 1:
            raise FormatError(f"{input_path} has {len(sources)} files: give a folder to write to, not {output_path}.")
        return [output_path]
    paths = []
    for source in sources:
        name = Path(source.member or os.path.abspath(source.path))  # a collection may be given as "."
        folder = source.path.relative_to(input_path).parent if input_path.is_dir() else Path()
        stem = name.name.split(".")
        while len(stem) > 1 and stem[-1].lower() in SUFFIXES:
            stem.pop()
        paths.append(output_path / folder / f"{'.'.join(stem)}.spacy")
    if twice := {path for path in paths if paths.count(path) > 1}:
        raise FormatError(f"Several files of {input_path} would be written to {min(twice)}. Convert them one by one.")
    return paths


def _write(docs: DocBin, path: Path) -> None:
    """Write a file atomically."""
    with whole_file(path) as file:
        file.write(docs.to_bytes())


def _print_report(converted: Converted) -> None:
    report = converted.report
    labels = ", ".join(f"{label} {count}" for label, count in sorted(report.labels.items()))
    words = f", {report.n_words} words" if report.n_words else ""
    msg.good(
        f"{converted.path}: {report.n_texts} texts, {report.n_characters} characters{words}, "
        f"{report.n_entities} entities",
        labels or ("" if report.n_words else "No entities."),
    )
    for line in report.describe():
        msg.warn(re.sub(rf"{re.escape(converted.source.name)}:(?=\d)", "line ", line))
