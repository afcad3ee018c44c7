"""Reading files in any format. To add a format, write its reader and add a line to READERS."""

from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Union

from ..lexicon.limits import quote
from .brat import read_brat
from .clue import read_clue
from .conll import read_conll
from .conllu import is_conllu, read_conllu
from .doccano import read_doccano
from .json_text import HALF, LONE_SURROGATE, parse, read_list
from .label_studio import read_label_studio
from .prodigy import read_prodigy
from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source, list_sources, read_lines
from .spacy_llm import is_example, read_spacy_llm
from .words import read_word_tags, read_word_text

ReaderT = Callable[[Source, ReadOptions, Report], Iterator[Record]]
READERS: Dict[str, ReaderT] = {
    "conll": read_conll,
    "clue": read_clue,
    "conllu": read_conllu,
    "word-tags": read_word_tags,
    "word-text": read_word_text,
    "prodigy": read_prodigy,
    "label-studio": read_label_studio,
    "doccano": read_doccano,
    "brat": read_brat,
    "spacy-llm": read_spacy_llm,
}


def list_inputs(path: Union[str, Path], format: str) -> List[Source]:
    """List the files of a path (see `list_sources`). A brat collection counts as one."""
    sources = list_sources(path)
    collection = len(sources) > 1 and any(source.name.endswith(".ann") for source in sources)
    return [Source(Path(path))] if collection and format in ("auto", "brat") else sources


def read_records(source: Source, format: str, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a file and count its texts.

    format (str): One of READERS, or "auto".
    report (Report): Collects the counts, and what was repaired or left out.
    YIELDS (Record): The texts. Raises FormatError, with file and line, for an invalid file.
    """
    if format == "auto":
        format = detect_format(source, options)
    if format not in READERS:
        raise FormatError(f"Unknown format {format!r}. Use auto or one of: {', '.join(READERS)}")
    for record in READERS[format](source, options, report):
        _check_characters(record)
        report.n_texts += 1
        report.n_characters += len(record.text)
        yield record


def _check_characters(record: Record) -> None:
    """Raise FormatError for a lone surrogate, which JSON and some encodings can hold, but neither UTF-8 nor a Doc."""
    labels = (entity.label for entity in record.entities or ())
    parts = (record.text, *(record.words or ()), *(record.tags or ()), *(record.pos or ()), *labels)
    if LONE_SURROGATE.search("".join(parts)):
        wrong = next(part for part in parts if LONE_SURROGATE.search(part))
        raise FormatError(f"{record.place}: {quote(wrong)} {HALF}.")


def detect_format(source: Source, options: ReadOptions) -> str:
    """Guess the format from the file's name or first line with text. `word-tags` and `word-text` are never guessed."""
    if source.path.is_dir() or source.name.endswith(".ann") or (source.member is None and source.path.suffix == ".zip"):
        return "brat"
    if Path(source.name).suffix in (".yml", ".yaml"):
        return "spacy-llm"
    if is_conllu(line for _, line in read_lines(source, options, Report())):
        return "conllu"
    for number, line in read_lines(source, options, Report()):
        line = line.strip()
        if line.startswith("{") and line.endswith("}"):
            return _detect_object(parse(line, f"{source.name}:{number}", "one object"))
        if line == "[" or line.startswith("[{"):
            return _detect_list(read_list(source, options, Report(), "a list of objects"))
        if line:
            return "conll"
    raise FormatError(f"{source.name}: the file is empty.")


def _detect_object(data: Dict[str, Any]) -> str:
    """The format of a JSON line."""
    if is_example(data):
        return "spacy-llm"
    labels = next((data[key] for key in ("label", "labels", "entities") if key in data), None)
    if isinstance(labels, list):
        return "doccano"
    if labels is None and {"spans", "tokens", "answer", "_input_hash"} & set(data):
        return "prodigy"
    return "clue"


def _detect_list(items: Iterator[Any]) -> str:
    """The format of a JSON list, by its first item."""
    return "spacy-llm" if any(map(is_example, islice(items, 1))) else "label-studio"
