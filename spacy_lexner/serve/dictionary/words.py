"""What the service knows about words, as JSON: what a change makes of each word that it touches."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union

from ...lexicon.entry import LexiconEntry
from ...lexicon.lexicon import Lexicon
from ...lexicon.rules import Rule, Rules

# What was made of a word: its fields, but for the vector, which is the model's; None if it was removed; or "" where
# nothing was made of it, so that it is as in the model's own lexicon.
Fields = Dict[str, Any]
Value = Union[Fields, None, str]
UNTOUCHED = ""
Overlay = Dict[str, Value]  # what was made of words, on top of the model's lexicon


class Resolved(NamedTuple):
    """What becomes of words."""

    entries: List[LexiconEntry]
    removed: List[str]


def to_fields(entry: LexiconEntry) -> Fields:
    """The fields of an entry, but for its vector."""
    return {
        "labels": list(entry.labels),
        "weight": entry.weight,
        "entity_id": entry.entity_id,
        "rules": [list(rule) for rule in entry.rules],
    }


def to_rules(fields: Fields) -> Rules:
    return tuple(Rule(*row) for row in fields["rules"])


def to_entry(base: Lexicon, word: str, value: Value) -> Optional[LexiconEntry]:
    """What a lexicon with these changes knows about a word; None if it does not have it."""
    own = base.get(word)
    if value is None:
        return None
    if isinstance(value, str):
        return own
    vector = None if own is None else own.vector
    return LexiconEntry(word, vector, value["weight"], value["labels"], value["entity_id"], to_rules(value))


def resolve(base: Lexicon, values: Mapping[str, Value]) -> Resolved:
    """What becomes of words under these changes."""
    found = Resolved([], [])
    for word, value in values.items():
        entry = to_entry(base, word, value)
        if entry is None:
            found.removed.append(word)
        else:
            found.entries.append(entry)
    return found


def get_value(overlay: Overlay, word: str) -> Value:
    return overlay.get(word, UNTOUCHED)


def set_values(overlay: Overlay, values: Mapping[str, Value]) -> None:
    """Put changes on top of others."""
    for word, value in values.items():
        if value == UNTOUCHED:
            overlay.pop(word, None)
        else:
            overlay[word] = value
