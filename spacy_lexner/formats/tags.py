"""Entities as a tag for each token, and back: BIO, BIOES and their synonyms."""

from functools import lru_cache
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from ..lexicon.limits import quote

Span = Tuple[int, int, str]  # first token, one past the last, label


class Scheme(NamedTuple):
    """The letters for the first, a middle, the last and the only token of an entity. If `end` is `inside` and `single`
    is `begin`, the scheme does not mark where an entity ends."""

    begin: str
    inside: str
    end: str
    single: str

    @property
    def letters(self) -> FrozenSet[str]:
        return frozenset((*self, "O"))

    @property
    def marks_end(self) -> bool:
        return self.end != self.inside


SCHEMES: Dict[str, Scheme] = {  # in the order of detection
    "bio": Scheme("B", "I", "I", "B"),
    "bioes": Scheme("B", "I", "E", "S"),
    "bmes": Scheme("B", "M", "E", "S"),
    "bmewo": Scheme("B", "M", "E", "W"),
    "bilou": Scheme("B", "I", "L", "U"),
}
SYNONYMS = {"M": "I", "L": "E", "S": "S", "W": "S", "U": "S", "B": "B", "I": "I", "E": "E", "O": "O"}

NO_BEGIN = "entity that does not begin with B: started there"
NO_END = "entity that does not end with E: ended there"
NEW_LABEL = "label that changes inside an entity: a new entity started there"


class Violation(NamedTuple):
    """An illegal tag: the number of its token, and a description of the error and its repair."""

    token: int
    kind: str


@lru_cache(maxsize=4096)
def split_tag(tag: str) -> Tuple[str, str]:
    """Split a tag such as `B-PER`, `B_PER`, `O` or `B` into its letter and its label (or ""). Raises ValueError for
    anything else."""
    letter, separator, label = tag[:1], tag[1:2], tag[2:]
    if tag == "O" or (letter in SYNONYMS and letter != "O" and (not separator or (separator in "-_" and label))):
        return letter, label
    raise ValueError(
        f"{quote(tag)} is not a tag: expected O, or one of B, I, M, E, L, S, W, U with a label, as in B-PER"
    )


def detect_scheme(letters: Iterable[str]) -> Optional[str]:
    """The first scheme that has all of these letters, or None."""
    used: Set[str] = set(letters)
    return next((name for name, scheme in SCHEMES.items() if used <= scheme.letters), None)


def read_spans(tags: Sequence[Tuple[str, str]], *, marks_end: bool) -> Tuple[List[Span], List[Violation]]:
    """Read the entities of a sentence from the (letter, label) pairs of its tokens. The letters of all schemes are
    understood. With `marks_end`, a missing mark at the end of an entity is a violation.

    Returns the entities, repaired so that no token changes its label, and the violations.
    """
    spans: List[Span] = []
    violations: List[Violation] = []
    start, label = -1, ""  # the open entity; -1 for none

    def close(end: int, *, complete: bool) -> None:
        nonlocal start
        if start >= 0:
            spans.append((start, end, label))
            if not complete:
                violations.append(Violation(end - 1, NO_END))
            start = -1

    for i, (written, new_label) in enumerate(tags):
        letter = SYNONYMS[written]
        if letter in "IE" and new_label == label and start >= 0:
            if letter == "E":
                close(i + 1, complete=True)
            continue
        inside_other = letter in "IE" and start >= 0
        close(i, complete=not marks_end or inside_other)
        if letter in "IE":
            violations.append(Violation(i, NEW_LABEL if inside_other else NO_BEGIN))
        if letter != "O":
            start, label = i, new_label
        if letter in "ES":
            close(i + 1, complete=True)
    close(len(tags), complete=not marks_end)
    return spans, violations


def write_tags(spans: Iterable[Span], n_tokens: int, scheme: str = "bioes") -> List[str]:
    """Write entities as one tag for each token, in one of SCHEMES. Raises ValueError for entities that overlap, are
    empty or lie outside the tokens."""
    begin, inside, end, single = SCHEMES[scheme]
    tags = ["O"] * n_tokens
    for span in spans:
        start, stop, label = span
        if not 0 <= start < stop <= n_tokens:
            raise ValueError(f"The entity {span} is empty or not within the {n_tokens} tokens.")
        if any(tag != "O" for tag in tags[start:stop]):
            raise ValueError(f"The entity {span} overlaps another one, which tags cannot express.")
        letters = [single] if stop - start == 1 else [begin, *[inside] * (stop - start - 2), end]
        tags[start:stop] = [f"{letter}-{label}" if label else letter for letter in letters]
    return tags
