"""The BIOES scheme: labelled spans as one tag per token, and the moves between tags that spell spans."""

from functools import lru_cache
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

Bools2d = NDArray[np.bool_]
Ints1d = NDArray[np.int64]

OUTSIDE = 0
BEGIN, INSIDE, END, SINGLE = range(4)
PREFIXES = "BIES"
# spaCy's BILUO strings call the end "last" and the single "unit".
_BILUO = {"B": BEGIN, "I": INSIDE, "L": END, "U": SINGLE}


class TagSpan(NamedTuple):
    """A labelled span of tokens; `end` is exclusive and `label` an index."""

    start: int
    end: int
    label: int


class UnknownLabelError(ValueError):
    """A label that the scheme does not have; `label` holds it."""

    def __init__(self, label: str, labels: Sequence[str]):
        self.label = label
        super().__init__(f"Unknown label {label!r}: expected one of {', '.join(labels)}")


class NoPathError(ValueError):
    """Docs without any path of finite score; `docs` holds their numbers in the batch."""

    def __init__(self, docs: List[int]) -> None:
        self.docs = docs
        super().__init__(
            f"Documents {docs} of the batch have no tag path of finite score: the model's output is not finite "
            "(weights damaged, or training diverged), or the constraints exclude every path."
        )


class TagScheme:
    """The tags of labels: tag 0 is outside; label number k has the tags 4k + 1 (begin), 4k + 2 (inside), 4k + 3 (end)
    and 4k + 4 (single: a span of one token). So appending a label leaves the other tags as they are."""

    def __init__(self, labels: Sequence[str]):
        self.labels: Tuple[str, ...] = tuple(labels)
        self.tags: Tuple[str, ...] = ("O", *(f"{prefix}-{label}" for label in self.labels for prefix in PREFIXES))
        self._index = {label: i for i, label in enumerate(self.labels)}

    @property
    def n_tags(self) -> int:
        return len(self.tags)

    def index(self, label: str) -> int:
        """RETURNS (int): The index of a label. Raises UnknownLabelError."""
        try:
            return self._index[label]
        except KeyError:
            raise UnknownLabelError(label, self.labels) from None

    def decode(self, tags: Ints1d) -> List[TagSpan]:
        """The spans that a legal path spells."""
        inside = np.flatnonzero(tags)
        kinds, labels = (tags[inside] - 1) % 4, (tags[inside] - 1) // 4
        opens = (kinds == BEGIN) | (kinds == SINGLE)
        closes = (kinds == END) | (kinds == SINGLE)
        ends = inside[closes] + 1
        return [TagSpan(*row) for row in zip(inside[opens].tolist(), ends.tolist(), labels[opens].tolist())]

    def gold(self, biluo: Sequence[Optional[str]]) -> Bools2d:
        """The tags that each token may have, [n_tokens, n_tags], from the strings of `Example.get_aligned_ner`: `O`, a
        prefix of B, I, L, U with a label, or None where annotation is missing. Raises UnknownLabelError."""
        allowed = np.zeros((len(biluo), self.n_tags), dtype=bool)
        for i, string in enumerate(biluo):
            if string is None:
                allowed[i] = True
            elif string == "O":
                allowed[i, OUTSIDE] = True
            else:
                prefix, label = string[0], string[2:]
                allowed[i, 1 + 4 * self.index(label) + _BILUO[prefix]] = True
        return allowed

    def constraint(
        self, is_space: NDArray[np.bool_], spans: Sequence[TagSpan] = (), outside: Sequence[Tuple[int, int]] = ()
    ) -> Bools2d:
        """The tags that tokens may have, [n_tokens, n_tags]: a white-space token (`is_space`, [n_tokens]) never begins
        or ends a span, but may be inside. The path has to spell `spans`, whether their edges are white space or not;
        `outside` lists (start, end) of tokens that are in no span."""
        allowed = np.ones((len(is_space), self.n_tags), dtype=bool)
        if is_space.any():
            edges = np.arange(1, self.n_tags)
            allowed[np.ix_(is_space, edges[(edges - 1) % 4 != INSIDE])] = False
        for start, end in outside:
            allowed[start:end] = False
            allowed[start:end, OUTSIDE] = True
        for span in spans:
            allowed[span.start : span.end] = False
            allowed[np.arange(span.start, span.end), span_tags(span)] = True
        return allowed


def span_tags(span: TagSpan) -> Ints1d:
    """The tags that spell a span."""
    n = span.end - span.start
    kinds = np.full(n, INSIDE, dtype=np.int64)
    kinds[0], kinds[-1] = BEGIN, END
    if n == 1:
        kinds[0] = SINGLE
    return 1 + 4 * span.label + kinds


@lru_cache(maxsize=64)
def legal_moves(n_tags: int) -> Bools2d:
    """The legal moves of BIOES, [n_tags + 1, n_tags + 1], from row to column; the last row is the start of a text, the
    last column its end. Read-only."""
    if n_tags < 1 or n_tags % 4 != 1:
        raise ValueError(f"There cannot be {n_tags} BIOES tags: expected 1 + 4 x the number of labels.")
    tags = np.arange(n_tags + 1)
    kind, label = (tags - 1) % 4, (tags - 1) // 4
    span = (tags > 0) & (tags < n_tags)
    opens = ~span | (kind == BEGIN) | (kind == SINGLE)  # may follow a closed tag: outside, begin, single, the end
    closed = ~span | (kind == END) | (kind == SINGLE)
    same = span[:, None] & span[None, :] & (label[:, None] == label[None, :])
    legal = np.where(closed[:, None], opens[None, :], same & ~opens[None, :])
    legal[n_tags, n_tags] = False
    legal.setflags(write=False)
    return legal
