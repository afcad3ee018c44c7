"""A lexicon entry: a word and its data, how it is checked, and how it is hashed."""

import re
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Tuple, Union

import numpy as np

from .errors import LexiconError
from .limits import quote
from .normalization import Normalization
from .rules import Rules, are_rules, pack_rules

REASONS = {
    "empty": "empty word",
    "nul": "NUL character in the word",
    "white_space": "white space in the word, other than single spaces",
    "not_unicode": "lone surrogate in the word",
    "too_long": "word longer than max_word_length",
    "bad_vector": "vector differs in size from the first, or is not finite",
    "bad_weight": "weight is not a finite number",
    "bad_entity_id": "entity id is not a string",
    "bad_label": "label is not a string, or contains a unit separator (U+001F)",
    "bad_rule": "invalid rule",
    "duplicate": "duplicate of an earlier word",
    "label_added": "duplicate of an earlier word, which also gets its label",
}
MAX_FLOAT = float(np.finfo("f4").max)
INVALID = re.compile("[^\\S ]|  |[\0\ud800-\udfff]")  # a single space is valid
FLOAT = Struct("<f")
LABEL_SEPARATOR = "\x1f"  # between the labels of a word in a file
Labels = Tuple[str, ...]


class _Fields(NamedTuple):
    word: str
    vector: Optional[np.ndarray]
    weight: float
    labels: Labels
    entity_id: str
    rules: Rules


class LexiconEntry(_Fields):
    """A word and what is known about it."""

    __slots__ = ()

    def __new__(
        cls,
        word: str,
        vector: Optional[np.ndarray] = None,
        weight: float = 1.0,
        labels: Union[str, Iterable[str]] = (),
        entity_id: str = "",
        rules: Rules = (),
        *,
        label: str = "",
    ) -> "LexiconEntry":
        """Create an entry.

        word (str): The word; single spaces inside it are allowed, those at its edges are trimmed.
        vector (Optional[numpy.ndarray]): float[dim], its embedding.
        weight (float): A frequency, a prior probability, or any other score that ranks words.
        labels (Union[str, Iterable[str]]): Its types or parts of speech; a string is one label.
        entity_id (str): The entity in a knowledge base that the word names.
        rules (Tuple[Rule, ...]): What its occurrences are, are not, or are likely to be (see `lexicon.rules`).
        label (str): The same as `labels`, for a single one.
        """
        given = ((labels,) if labels else ()) if isinstance(labels, str) else labels
        given = join_labels((label,), given) if given or label else ()
        return super().__new__(cls, word, vector, weight, given, entity_id, rules)

    @property
    def label(self) -> str:
        """RETURNS (str): The first label; empty if there is none."""
        return self.labels[0] if self.labels else ""


def join_labels(first: Iterable[str], second: Iterable[str]) -> Labels:
    """Join labels, in order, without duplicates and empty ones."""
    return tuple(dict.fromkeys(filter(None, (*first, *second))))


def pack_labels(labels: Labels) -> str:
    """Write labels as one string; a single label stays as it is."""
    return LABEL_SEPARATOR.join(labels)


@lru_cache(maxsize=4096)
def unpack_labels(text: str) -> Labels:
    """Read labels written by `pack_labels`."""
    return tuple(text.split(LABEL_SEPARATOR)) if text else ()


class EntryStream(Iterator[LexiconEntry]):
    """A stream of entries with its `source` (a file, or a name for anything else) and the `line` (or number) of the
    latest entry, for messages."""

    def __init__(self, source: str, numbered: Iterable[Tuple[int, LexiconEntry]]) -> None:
        self.source = source
        self.line = 0
        self._numbered = iter(numbered)

    def __next__(self) -> LexiconEntry:
        self.line, entry = next(self._numbered)
        return entry


def hash_word(word: str) -> int:
    """Hash a word: BLAKE2b of its UTF-8 bytes, cut to 64 bits, little-endian. The same on every machine.

    word (str): The word, normalised as its lexicon does (`Lexicon.normalization`).
    RETURNS (int): The hash, 0 <= hash < 2**64.
    """
    return int.from_bytes(blake2b(word.encode("utf8", "surrogatepass"), digest_size=8).digest(), "little")


def hash_content(entry: LexiconEntry) -> int:
    """Hash an entry, whose vector has the stored dtype, to 64 bits. A lexicon's version is made from the sum of these
    hashes, so the order of its words does not matter."""
    parts = (entry.word, pack_labels(entry.labels), entry.entity_id, pack_rules(entry.rules))
    text = "\0".join(parts).encode("utf8", "replace")
    vector = b"" if entry.vector is None else entry.vector.tobytes()
    return int.from_bytes(blake2b(text + FLOAT.pack(entry.weight) + vector, digest_size=8).digest(), "little")


def reject_single(given: Any, kind: str = "word") -> None:
    """Raise LexiconError for a single word, entry or text where several are expected: iterating over it would give its
    characters or fields."""
    if isinstance(given, (str, LexiconEntry)):
        raise LexiconError(
            f"Expected several {kind}s, got {given!r:.80}. Put a single {kind} in a list: [{given!r:.80}]."
        )


def to_stored(entry: LexiconEntry, dtype: np.dtype, normalization: Normalization) -> LexiconEntry:
    """Convert an entry to what a lexicon stores: a normalised word, and a vector of that dtype, in which numbers out of
    range are infinite. Raises TypeError for anything but an entry, and if its word is not a string, and LexiconError
    if its vector is not made of numbers."""
    if not isinstance(entry, LexiconEntry):
        raise TypeError(
            f"Expected a LexiconEntry, got {entry!r:.80}. Make one of the word: LexiconEntry({entry!r:.80})."
        )
    if not isinstance(entry.word, str):
        raise TypeError(f"A lexicon word must be a str; got {type(entry.word).__name__} ({entry.word!r:.80}).")
    word = normalization.word(entry.word)
    if word != entry.word:
        entry = entry._replace(word=word)
    if entry.vector is None:
        return entry
    try:
        with np.errstate(over="ignore"):
            return entry._replace(vector=np.asarray(entry.vector).astype(dtype, copy=False))
    except (TypeError, ValueError):
        raise LexiconError(
            f"The vector of {quote(entry.word)} is {quote(entry.vector)}; expected a list or an array of numbers. "
            "Give a label by name: LexiconEntry(word, label=...)."
        ) from None


def find_fault(entry: LexiconEntry, dim: int, max_word_length: int) -> Optional[str]:
    """The reason (a key of REASONS) why an entry from `to_stored` is invalid, or None. Vectors must have width `dim`,
    or any if it is 0."""
    fault, vector = find_word_fault(entry.word, max_word_length), entry.vector
    if fault is not None:
        return fault
    if vector is not None and not (vector.ndim == 1 and len(vector) == (dim or len(vector) or -1)):
        return "bad_vector"
    if vector is not None and not np.isfinite(vector).all():
        return "bad_vector"
    if not _is_weight(entry.weight):
        return "bad_weight"
    if not isinstance(entry.entity_id, str):
        return "bad_entity_id"
    if entry.labels and not all(isinstance(label, str) and LABEL_SEPARATOR not in label for label in entry.labels):
        return "bad_label"
    return "bad_rule" if entry.rules and not are_rules(entry.rules) else None


def _is_weight(value: Any) -> bool:
    try:
        return bool(abs(value) <= MAX_FLOAT)
    except TypeError:
        return False


def find_word_fault(word: str, max_word_length: int) -> Optional[str]:
    """The reason (a key of REASONS) why a trimmed word is invalid, or None."""
    if not word:
        return "empty"
    invalid = INVALID.search(word)
    if invalid is not None:
        return "white_space" if invalid[0].isspace() else "nul" if invalid[0] == "\0" else "not_unicode"
    return "too_long" if len(word) > max_word_length else None
