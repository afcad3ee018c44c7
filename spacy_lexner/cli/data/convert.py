"""`spacy lexner convert`: annotated files of the field to `.spacy`."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Callable, Iterator, List, NamedTuple, Optional

import typer
from spacy.tokens import Doc, DocBin
from spacy.util import load_model
from spacy.vocab import Vocab
from tqdm import tqdm
from wasabi import msg

from ...formats.docs import add_entities, make_word_doc
from ...formats.offsets import UNITS
from ...formats.read import READERS, list_inputs, read_records
from ...formats.record import FormatError, ReadOptions, Record
from ...formats.report import Report
from ...formats.source import Source
from ...formats.tags import SCHEMES
from ...pipeline.char_tokenizer import CharTokenizer

SUFFIXES = {"gz", "bz2", "xz", "conll", "conllu", "char", "ner", "txt", "tsv", "utf8", "json", "jsonl", *SCHEMES}


InputArgument = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="A file (also .gz, .bz2, .xz), a folder, a zip archive or a member of one (archive.zip/member)",
    ),
]
OutputArgument = Annotated[Path, typer.Argument(metavar="OUT", help="A .spacy file, or a folder")]
FormatOption = Annotated[
    str, typer.Option("--format", "-f", help=f"Format of the input: auto, {', '.join(READERS)}", metavar="NAME")
]
SchemeOption = Annotated[
    str, typer.Option("--scheme", "-s", help=f"Tags of CoNLL files: auto, {', '.join(SCHEMES)}", metavar="NAME")
]
RepairOption = Annotated[
    bool, typer.Option("--repair", "-r", help="Repair illegal tags and wrong offsets, and report it")
]
EncodingOption = Annotated[
    str, typer.Option("--encoding", "-e", help="Encoding of the input, such as gb18030", metavar="NAME")
]
ErrorsOption = Annotated[
    str, typer.Option(help="What to do with bytes that are not text: strict (an error) or replace", metavar="NAME")
]
TokenizerOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="NAME",
        help="char (a token for each character), words (those of the file), auto (words where they are the annotation, "
        "char elsewhere), or a pipeline, such as blank:zh",
    ),
]
DigitSuffixOption = Annotated[
    str,
    typer.Option(
        help="Does each word end with a digit that is not text, as in the first edition of Weibo (名0)? auto, yes, no",
        metavar="NAME",
    ),
]
SpaceSymbolOption = Annotated[
    str, typer.Option(help="Symbol that stands for a space in CoNLL files, such as ␣", metavar="SYMBOL")
]
SpansKeyOption = Annotated[
    Optional[str],
    typer.Option(help="Also write all entities, overlapping ones too, to these spans of the Docs", metavar="KEY"),
]
OffsetsOption = Annotated[
    str,
    typer.Option(
        help=f"What an annotation tool counts places in: auto (as its files do), {', '.join(UNITS)}",
        metavar="NAME",
    ),
]


class Converted(NamedTuple):
    """A file that was written.

    source (Source): What was read.
    path (Path): The file.
    report (Report): What is in it, and what was not as it should be.
    """

    source: Source
    path: Path
    report: Report


def convert_cli(
    input_path: InputArgument,
    output_path: OutputArgument,
    format: FormatOption = "auto",
    scheme: SchemeOption = "auto",
    repair: RepairOption = False,
    encoding: EncodingOption = "utf-8",
    errors: ErrorsOption = "strict",
    tokenizer: TokenizerOption = "auto",
    digit_suffix: DigitSuffixOption = "auto",
    space_symbol: SpaceSymbolOption = "",
    offsets: OffsetsOption = "auto",
    spans_key: SpansKeyOption = None,
) -> None:
    """Convert annotated texts to .spacy files, for training and evaluation.

    Nothing is changed or left out without a line in the report. A file that is wrong is refused with the place of the
    first mistake; --repair mends what can be mended.

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
    try:
        options = ReadOptions(encoding, errors, repair, scheme, digit_suffix, space_symbol, offsets)
        for converted in convert(
            input_path, output_path, format=format, options=options, tokenizer=tokenizer, spans_key=spans_key
        ):
            _print_report(converted)
    except (ValueError, OSError) as error:
        msg.fail("Nothing more was converted", str(error), exits=1)


def convert(
    input_path: Path,
    output_path: Path,
    *,
    format: str = "auto",
    options: Optional[ReadOptions] = None,
    tokenizer: str = "auto",
    spans_key: Optional[str] = None,
) -> Iterator[Converted]:
    """Convert annotated files to `.spacy`, one after the other.

    input_path (Path): A file, a folder, a zip archive or a member of one.
    output_path (Path): A `.spacy` file, or a folder, which gets `train.spacy` for `train.char.bmes`.
    format (str): The format, one of `formats.read.READERS`, or "auto".
    options (Optional[ReadOptions]): How the files are read.
    tokenizer (str): "auto", "char", "words" or a pipeline.
    spans_key (Optional[str]): Also write all entities to these spans.
    YIELDS (Converted): Each file, as soon as it is written whole. Raises FormatError or OSError where one is wrong.
    """
    options = options if options is not None else ReadOptions()
    make_doc = get_doc_maker(tokenizer)
    sources = list_inputs(input_path, format)
    for source, path in zip(sources, _plan_outputs(sources, Path(input_path), Path(output_path))):
        report = Report()
        docs = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG"])
        records = read_records(source, format, options, report)
        for record in tqdm(records, desc=source.name, unit=" texts", disable=None, leave=False):
            if record.segmented and tokenizer not in ("auto", "words"):
                report.add_problem(f"words of the file left out, for the tokens of {tokenizer!r}", record.place)
            docs.add(add_entities(make_doc(record), record, report, spans_key=spans_key))
        _write(docs, path)
        yield Converted(source, path, report)


def get_doc_maker(tokenizer: str) -> Callable[[Record], Doc]:
    """Get the function that cuts a record into tokens.

    tokenizer (str): "auto", "char", "words", or the name or folder of a pipeline, such as "blank:zh".
    RETURNS (Callable[[Record], Doc]): Makes a Doc without entities. Raises OSError if there is no such pipeline.
    """
    if tokenizer == "words":
        return partial(make_word_doc, vocab=Vocab())
    if tokenizer == "auto":
        return partial(_make_annotated_doc, CharTokenizer(Vocab()))
    tokenize = CharTokenizer(Vocab()) if tokenizer == "char" else load_model(tokenizer).tokenizer
    return partial(_make_text_doc, tokenize)


def _make_text_doc(tokenize: Callable[[str], Doc], record: Record) -> Doc:
    return tokenize(record.text)


def _make_annotated_doc(tokenizer: CharTokenizer, record: Record) -> Doc:
    return make_word_doc(record, tokenizer.vocab) if record.segmented else tokenizer(record.text)


def _plan_outputs(sources: List[Source], input_path: Path, output_path: Path) -> List[Path]:
    """The file that each source is written to."""
    if output_path.suffix == ".spacy":
        if len(sources) > 1:
            raise FormatError(f"{input_path} has {len(sources)} files: give a folder to write to, not {output_path}.")
        return [output_path]
    paths = []
    for source in sources:
        name = Path(source.member) if source.member is not None else source.path
        folder = source.path.relative_to(input_path).parent if input_path.is_dir() else Path()
        stem = name.name.split(".")
        while len(stem) > 1 and stem[-1].lower() in SUFFIXES:
            stem.pop()
        paths.append(output_path / folder / f"{'.'.join(stem)}.spacy")
    twice = {path for path in paths if paths.count(path) > 1}
    if twice:
        raise FormatError(f"Several files of {input_path} would be written to {min(twice)}. Convert them one by one.")
    return paths


def _write(docs: DocBin, path: Path) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        docs.to_disk(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


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
