"""The values that changes give to words, as JSON."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union

from ...lexicon.entry import LexiconEntry
from ...lexicon.lexicon import Lexicon
from ...lexicon.rules import Rule, Rules

# The value of a word: its fields, except for the vector, which is the model's; None if it was removed; "" if it was not
# changed, so that it is as in the model's own lexicon.
Fields = Dict[str, Any]
Value = Union[Fields, None, str]
UNTOUCHED = ""
Overlay = Dict[str, Value]  # the values of changed words, on top of the model's lexicon


class Resolved(NamedTuple):
    """The entries to set and the words to remove."""

    entries: List[LexiconEntry]
    removed: List[str]


def to_fields(entry: LexiconEntry) -> Fields:
    """The fields of an entry, except for its vector."""
    return {
        "labels": list(entry.labels),
        "weight": entry.weight,
        "entity_id": entry.entity_id,
        "rules": [list(rule) for rule in entry.rules],
    }


def to_rules(fields: Fields) -> Rules:
    return tuple(Rule(*row) for row in fields["rules"])


def to_entry(base: Lexicon, word: str, value: Value) -> Optional[LexiconEntry]:
    """The entry of a word with this value; None if the lexicon then lacks it."""
    own = base.get(word)
    if value is None:
        return None
    if isinstance(value, str):
        return own
    vector = None if own is None else own.vector
    return LexiconEntry(word, vector, value["weight"], value["labels"], value["entity_id"], to_rules(value))


def resolve(base: Lexicon, values: Mapping[str, Value]) -> Resolved:
    """Turn the values of words into entries and removals."""
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
    """Put values on top of others."""
    for word, value in values.items():
        if value == UNTOUCHED:
            overlay.pop(word, None)
        else:
            overlay[word] = value
