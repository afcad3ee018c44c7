"""Guessing the format of a file from its name, its first line or, for JSON, the first object that tells."""

import re
from pathlib import Path
from typing import Any, Dict, Optional

from ..lexicon.limits import quote
from .conllu import is_conllu
from .doccano import KEYS
from .json_text import read_objects
from .label_studio import is_task
from .prodigy import ANSWERS
from .record import FormatError, ReadOptions
from .report import Report
from .source import OPENERS, Source, is_archive, read_lines
from .spacy_llm import is_example

LIST = re.compile(r"\[\s*(?:\{|\]?$)")  # a list of objects; "[ O" and "[] O" are CoNLL
JSON_SUFFIXES = {".json", ".jsonl"}
YAML_SUFFIXES = tuple(f"{suffix}{packed}" for suffix in (".yml", ".yaml") for packed in ("", *OPENERS))
EXAMPLE = '{"text": "我在南京"}'


def detect_format(source: Source, options: ReadOptions) -> str:
    """Guess the format of a file. `word-tags` and `word-text` are never guessed.

    RETURNS (str): One of READERS. Raises FormatError if the file is empty or its JSON is damaged.
    """
    if source.path.is_dir() or source.name.endswith(".ann") or (source.member is None and is_archive(source.path)):
        return "brat"
    name = source.name.lower()
    if name.endswith(".spacy"):
        raise FormatError(f"{source.name}: a .spacy file is what convert writes, not what it reads. Leave it out.")
    if name.endswith(YAML_SUFFIXES):
        return "spacy-llm"
    if is_conllu(line for _, line in read_lines(source, options, Report())):
        return "conllu"
    lines = (line.strip() for _, line in read_lines(source, options, Report()))
    first = next(filter(None, lines), None)
    if first is None:
        raise FormatError(f"{source.name}: the file is empty.")
    if LIST.match(first) or (first.startswith("{") and first.endswith("}")):
        return _detect_objects(source, options)
    if JSON_SUFFIXES & set(Path(name).suffixes):
        raise FormatError(
            f"{source.name}: expected a JSON object on each line, or a list of objects, as in {EXAMPLE}; the file "
            f"begins with {quote(first)}. If it is no JSON, name its format (--format)."
        )
    return "conll"


def _detect_objects(source: Source, options: ReadOptions) -> str:
    """The format of the first object that only one format has. Texts without annotation, with which many a file
    begins, look alike in several."""
    likely = None
    for _, data in read_objects(source, options, Report(), EXAMPLE):
        if (format := _find_format(data)) is not None:
            return format
        likely = likely or _guess_format(data)
    return likely or "clue"


def _find_format(data: Dict[str, Any]) -> Optional[str]:
    """The only format that an object can have; None if there are several."""
    if is_example(data):
        return "spacy-llm"
    if is_task(data):
        return "label-studio"
    if data.get("answer") in ANSWERS or "_input_hash" in data:
        return "prodigy"
    labels = next(filter(None, map(data.get, KEYS)), None)
    if isinstance(labels, list):
        return "doccano"
    if labels is None and (data.get("spans") or data.get("tokens") or "answer" in data):
        return "prodigy"
    return None if labels is None and not data.get("ents") else "clue"


def _guess_format(data: Dict[str, Any]) -> Optional[str]:
    """The format that has an object whose list of entities is empty."""
    if any(isinstance(data.get(key), list) for key in KEYS):
        return "doccano"
    return "prodigy" if "spans" in data or "tokens" in data else None
