"""Edits of a dictionary, and the values that they give to words."""

from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ...lexicon.entry import MAX_FLOAT, REASONS, LexiconEntry, find_word_fault
from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.rule_file import collect_rules
from ...lexicon.rules import Rules, WordRule, normal_rules
from ...pipeline.lexicon_pipe import LexiconPipe
from .errors import ContradictionError, UnknownError
from .words import Value, to_fields


class WordFields(NamedTuple):
    """A word and its new fields; None for fields that stay as they are."""

    word: str
    labels: Optional[Sequence[str]] = None
    weight: Optional[float] = None
    entity_id: Optional[str] = None


class Edit(NamedTuple):
    """Changes to make, in this order: remove words, add or change words, remove rules, add rules."""

    remove_words: Tuple[str, ...] = ()
    add_words: Tuple[WordFields, ...] = ()
    remove_rules: Tuple[str, ...] = ()
    add_rules: Tuple[WordRule, ...] = ()
    replace: bool = False  # whether new rules replace all rules of their word, or are added to them


def edit_words(pipe: LexiconPipe, edit: Edit) -> Dict[str, Value]:
    """Compute the new values of the words that an edit changes.

    pipe (LexiconPipe): The owner of the current lexicon.
    edit (Edit): The edit.
    RETURNS (Dict[str, Value]): The value of each changed word. Raises LexiconError if the edit is invalid; UnknownError
        if none of the words to remove is known; ContradictionError for rules that cannot both be followed.
    """
    lexicon = pipe.lexicon
    draft: Dict[str, Optional[LexiconEntry]] = {}

    def look_up(word: str) -> Optional[LexiconEntry]:
        return draft[word] if word in draft else lexicon.get(word)

    for word in _known(lexicon, edit.remove_words):
        draft[word] = None
    for given in edit.add_words:
        word = _checked(lexicon, given.word)
        entry = look_up(word) or LexiconEntry(word)
        labels = entry.labels if given.labels is None else tuple(dict.fromkeys(given.labels))
        weight = entry.weight if given.weight is None else _rounded(word, given.weight)
        entity_id = entry.entity_id if given.entity_id is None else given.entity_id
        draft[word] = LexiconEntry(word, entry.vector, weight, labels, entity_id, entry.rules)
    for word in _known(lexicon, edit.remove_rules):
        if (known := look_up(word)) is not None:
            draft[word] = known._replace(rules=())
    for word, rules in collect_rules(edit.add_rules, lexicon.normalization).items():
        word = _checked(lexicon, word)
        entry = look_up(word) or LexiconEntry(word)
        joined = rules if edit.replace else normal_rules((*entry.rules, *rules))
        check_contradiction(pipe, word, joined)
        draft[word] = entry._replace(rules=joined)
    return _differing(lexicon, draft)


def check_contradiction(pipe: LexiconPipe, word: str, rules: Rules) -> None:
    """Raise ContradictionError if rules of a word cannot all be followed."""
    for reader in pipe.rule_readers:
        for i, first in enumerate(rules):
            for second in rules[i + 1 :]:
                if reader.contradiction((first, second)):
                    raise ContradictionError(word, (str(first), str(second)), reader.name)


def _differing(lexicon: Lexicon, draft: Mapping[str, Optional[LexiconEntry]]) -> Dict[str, Value]:
    """The values of those words that differ from the lexicon."""
    values: Dict[str, Value] = {}
    for word, entry in draft.items():
        known = lexicon.get(word)
        value: Value = None if entry is None else to_fields(entry)
        before = None if known is None else to_fields(known)
        if value != before:
            values[word] = value
    return values


def _checked(lexicon: Lexicon, word: str) -> str:
    """Normalise a word as the lexicon does. Raises LexiconError if it is invalid."""
    normal = lexicon.normalization.word(word)
    if fault := find_word_fault(normal, lexicon.max_word_length):
        raise LexiconError(f"The word {word[:80]!r} cannot be added: {REASONS[fault]}.")
    return normal


def _rounded(word: str, weight: float) -> float:
    """Round a weight as the lexicon does. Raises LexiconError if it is too large, or no number."""
    if not abs(weight) <= MAX_FLOAT:
        raise LexiconError(f"The weight of {word[:80]!r} is {weight}; expected a number of at most {MAX_FLOAT:.1e}.")
    return float(np.float32(weight))


def _known(lexicon: Lexicon, words: Iterable[str]) -> List[str]:
    """The words that the lexicon has. Raises UnknownError if words were given and it has none of them."""
    normal = list(dict.fromkeys(map(lexicon.normalization.word, words)))
    known = [word for word in normal if word in lexicon]
    if normal and not known:
        raise UnknownError(f"Not in the lexicon: {', '.join(word[:80] for word in normal[:5])}.")
    return known
