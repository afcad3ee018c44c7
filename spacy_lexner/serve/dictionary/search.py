"""Searching the words and rules of a dictionary, page by page."""

from itertools import islice
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional

from ...lexicon.entry import LexiconEntry
from ...lexicon.lexicon import Lexicon
from .dictionary import Dictionary

MODES = ("contains", "prefix", "exact")


class Page(NamedTuple):
    """A page of results."""

    rows: List[Any]
    next: Optional[int]  # the offset of the next page; None if this is the last


def find_words(dictionary: Dictionary, query: str, mode: str, changed: bool, offset: int, limit: int) -> Page:
    """Find words; with `changed` only those changed at run time, including removed ones."""
    lexicon, overlay = dictionary.matcher.lexicon, dict(dictionary.history.overlay)
    query = lexicon.normalization.word(query)
    words: Iterable[str] = overlay if changed else [query] if mode == "exact" else lexicon
    found = (word for word in words if _matches(word, query, mode) and (changed or mode != "exact" or word in lexicon))
    page = _cut(found, offset, limit)
    return Page([describe_word(lexicon, word, word in overlay) for word in page.rows], page.next)


def find_rules(dictionary: Dictionary, query: str, offset: int, limit: int) -> Page:
    """Find the rules of words that contain a text."""
    lexicon = dictionary.matcher.lexicon
    query = lexicon.normalization.word(query)
    rows = ((entry.word, rule) for entry in lexicon.ruled_words() if query in entry.word for rule in entry.rules)
    page = _cut(rows, offset, limit)
    return Page([{"word": word, **rule._asdict()} for word, rule in page.rows], page.next)


def describe_word(lexicon: Lexicon, word: str, changed: bool) -> Dict[str, Any]:
    """Describe a word for clients."""
    entry = lexicon.get(word)
    return {**describe_entry(entry or LexiconEntry(word)), "changed": changed, "removed": entry is None}


def describe_entry(entry: LexiconEntry) -> Dict[str, Any]:
    return {
        "word": entry.word,
        "labels": list(entry.labels),
        "weight": entry.weight,
        "entity_id": entry.entity_id,
        "has_vector": entry.vector is not None,
        "rules": [rule._asdict() for rule in entry.rules],
    }


def _matches(word: str, query: str, mode: str) -> bool:
    if mode == "exact":
        return word == query
    return word.startswith(query) if mode == "prefix" else query in word


def _cut(rows: Iterator[Any], offset: int, limit: int) -> Page:
    found = list(islice(rows, offset, offset + limit + 1))
    return Page(found[:limit], offset + limit if len(found) > limit else None)
