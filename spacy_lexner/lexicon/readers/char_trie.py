"""Small dictionaries held in a `pygtrie.CharTrie`, which can be edited like a dict."""

from numbers import Real
from typing import Any, Dict, Iterator, Mapping

import numpy as np

from ..entry import EntryStream, LexiconEntry
from ..errors import LexiconError
from ..limits import quote
from ..rules import Rule

SOURCE = "pygtrie.CharTrie"
FIELDS = ("label", *LexiconEntry._fields[1:])
EXPECTED = f"None, a label (str), a weight (number), a vector (list or array), a dict of {', '.join(FIELDS)}"


def read_char_trie(trie: Any) -> EntryStream:
    """Read a trie whose keys are words. A value is None, a label, a weight, a vector, a dict of fields of LexiconEntry,
    or a LexiconEntry.

    trie (Union[pygtrie.CharTrie, Callable[[], pygtrie.CharTrie]]): The trie, or a function that returns it.
    RETURNS (EntryStream): The entries, in the order of the trie. Raises LexiconError if it is empty or not a CharTrie,
        and for any other value.
    """
    from pygtrie import CharTrie  # here, since every `spacy.blank` imports this module

    if not isinstance(trie, CharTrie) and callable(trie):
        trie = trie()
    if not isinstance(trie, CharTrie):
        raise LexiconError(f"Expected a pygtrie.CharTrie or a function that returns one; got {type(trie).__name__}.")
    if not trie:
        raise LexiconError("The pygtrie.CharTrie holds no words. Add them: trie[word] = None.")
    return EntryStream(SOURCE, enumerate(_read(trie), 1))


def _read(trie: Any) -> Iterator[LexiconEntry]:
    for word, value in trie.iteritems():
        try:
            yield _to_entry(word, value)
        except (TypeError, ValueError) as error:
            detail = f" ({error})" if str(error) else ""
            raise LexiconError(
                f"{SOURCE}: the value of {quote(word)} is {quote(value)}{detail}; expected {EXPECTED}, or a "
                "LexiconEntry."
            ) from None


def _to_entry(word: str, value: Any) -> LexiconEntry:
    """Make an entry. Raises TypeError or ValueError for a value of the wrong kind."""
    if isinstance(value, LexiconEntry):
        if value.word != word:
            raise ValueError(f"an entry of {quote(value.word)}")
        return value
    if value is None:
        return LexiconEntry(word)
    if isinstance(value, str):
        return LexiconEntry(word, label=value)
    if _is_number(value):
        return LexiconEntry(word, weight=float(value))
    if isinstance(value, Mapping):
        return _from_fields(word, dict(value))
    return LexiconEntry(word, _to_vector(value))


def _from_fields(word: str, fields: Dict[str, Any]) -> LexiconEntry:
    unknown = sorted(set(map(str, fields)) - set(FIELDS))
    if unknown:
        raise ValueError(f"unknown fields {', '.join(unknown)}")
    for name in ("label", "entity_id"):
        if not isinstance(fields.get(name, ""), str):
            raise TypeError(f"{name} is {fields[name]!r:.40}, not a str")
    labels = fields.get("labels", ())
    if not (isinstance(labels, (str, list, tuple)) and all(isinstance(label, str) for label in labels)):
        raise TypeError(f"labels is {labels!r:.40}, not a list of str")
    if not _is_number(fields.get("weight", 1.0)):
        raise TypeError(f"weight is {fields['weight']!r:.40}, not a number")
    if fields.get("vector") is not None:
        fields["vector"] = _to_vector(fields["vector"])
    try:
        fields["rules"] = tuple(Rule(*rule) for rule in fields.get("rules", ()))
    except TypeError:
        raise TypeError(f"rules is {fields['rules']!r:.40}, not a list of (mode, label, weight)") from None
    return LexiconEntry(word, **fields)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _to_vector(value: Any) -> np.ndarray:
    vector = np.asarray(value) if isinstance(value, (list, tuple, np.ndarray)) else np.zeros(0)
    if vector.ndim != 1 or not vector.size or vector.dtype.kind not in "fiu":
        raise TypeError
    return vector.astype("f4")
