"""Reading files in any format. To add a format, write its reader and add a line to READERS."""

from pathlib import Path
from typing import Callable, Dict, Iterator, List, Union

from ..lexicon.limits import quote
from .brat import read_brat
from .clue import read_clue
from .conll import read_conll
from .conllu import read_conllu
from .detect import detect_format
from .doccano import read_doccano
from .json_text import HALF, LONE_SURROGATE
from .label_studio import read_label_studio
from .prodigy import read_prodigy
from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source, list_sources
from .spacy_llm import read_spacy_llm
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
    """List the files of a path (see `list_sources`). A brat collection counts as one; files with an .ann file among
    them are one."""
    sources = list_sources(path)
    collection = format == "brat" or (format == "auto" and any(source.name.endswith(".ann") for source in sources))
    return [Source(Path(path))] if collection and len(sources) > 1 else sources


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
