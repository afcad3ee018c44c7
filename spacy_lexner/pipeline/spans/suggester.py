"""`spacy-lexner.lexicon_suggester.v1`: suggests spans to `spancat` from candidate words."""

from itertools import chain
from typing import Callable, Iterable, Iterator, List, Optional, Sequence

import numpy as np
from spacy.tokens import Doc
from thinc.api import Ops, get_current_ops
from thinc.types import Ragged

from ...candidates.batch_words import expand_ranges
from ...candidates.storage import Candidates, get_candidates, place_spans

# int64[n, 2], first token and end. Tokens are numbered over all Docs, with one number skipped after each Doc, so that
# no span of one Doc touches a span of the next.
Spans = np.ndarray


def create_lexicon_suggester(
    max_words: int = 4,
    max_ngram: int = 3,
    groups: List[str] = [],  # noqa: B006 (never changed)
) -> Callable[[Iterable[Doc]], Ragged]:
    """Create a suggester for `spancat`: runs of candidate words, short runs of tokens, and spans found by an earlier
    component. Each span is suggested once; `spancat` finds only suggested spans.

    max_words (int): Suggest every run of 1 to this many consecutive candidate words; 0 for none. Words that do not
        begin and end with tokens are left out.
    max_ngram (int): Suggest every run of 1 to this many tokens; 0 for none.
    groups (List[str]): Also suggest the spans of these groups of `doc.spans`, such as `["lex_uncertain"]`, the spans
        that `lex_ner` is uncertain about.
    RETURNS (Callable[[Iterable[Doc], Optional[Ops]], Ragged]): The suggester. It raises ValueError for a Doc without
        the words or groups that it needs.
    """
    if isinstance(groups, str):
        raise ValueError(f"groups is {groups!r}; expected a list of keys of doc.spans: [{groups!r}].")
    for name, value in (("max_words", max_words), ("max_ngram", max_ngram)):
        if value < 0:
            raise ValueError(f"{name} is {value}; expected the length of the longest run to suggest, or 0 for none.")
    if not (max_words or max_ngram or groups):
        raise ValueError("The suggester suggests nothing: set max_words or max_ngram above 0, or groups.")

    def suggest(docs: Iterable[Doc], *, ops: Optional[Ops] = None) -> Ragged:
        docs = list(docs)
        lengths = np.array([len(doc) for doc in docs], "i8")
        offsets = np.cumsum(lengths + 1) - lengths - 1
        parts: List[Spans] = [find_ngrams(offsets, lengths, max_ngram)]
        if max_words:
            parts.extend(join_words(find_words(docs), max_words))
        parts.extend(find_group(docs, offsets, key) for key in groups)
        return to_ragged(np.concatenate(parts), offsets, ops or get_current_ops())

    return suggest


def find_ngrams(offsets: np.ndarray, lengths: np.ndarray, max_ngram: int) -> Spans:
    """All runs of 1 to `max_ngram` tokens of Docs that begin at token `offsets` and have `lengths` tokens."""
    starts = expand_ranges(offsets, lengths)
    sizes = np.minimum(np.repeat(offsets + lengths, lengths) - starts, max_ngram)  # of the longest run from there
    return np.stack([np.repeat(starts, sizes), expand_ranges(starts + 1, sizes)], axis=1)


def find_words(docs: Sequence[Doc]) -> Spans:
    """The candidate words of Docs that begin and end with tokens. Raises ValueError for a Doc that was not matched."""
    candidates = [require_candidates(doc) for doc in docs]
    starts, ends, whole = place_spans(docs, candidates, np.ones(sum(map(len, docs)), "i8"))
    docs_before = np.repeat(np.arange(len(docs)), [len(part.starts) for part in candidates])
    return (np.stack([starts, ends], axis=1) + docs_before[:, None])[whole]


def join_words(words: Spans, max_words: int) -> Iterator[Spans]:
    """YIELDS (Spans): The words, then all runs of two consecutive words, and so on up to `max_words`."""
    words = words[np.argsort(words[:, 0], kind="stable")]
    runs = words
    for _ in range(max_words - 1):
        yield runs
        first, last = (np.searchsorted(words[:, 0], runs[:, 1], side) for side in ("left", "right"))
        following = words[expand_ranges(first, last - first), 1]
        runs = np.unique(np.stack([np.repeat(runs[:, 0], last - first), following], axis=1), axis=0)
    yield runs


def require_candidates(doc: Doc) -> Candidates:
    """The candidate words of a Doc. Raises ValueError if no matcher has run on its text."""
    stored = get_candidates(doc)
    if stored is None:
        raise ValueError(
            f"No lex_matcher has run on {doc.text[:40]!r}, so it has no words to suggest. Put a lex_matcher before "
            'spancat, and train with annotating_components = ["lex_matcher"] in [training].'
        )
    return stored[1]


def find_group(docs: Sequence[Doc], offsets: np.ndarray, key: str) -> Spans:
    """The spans under a key of `doc.spans`. Raises ValueError for a Doc that does not have it."""
    for doc in docs:
        if key not in doc.spans:
            known = ", ".join(doc.spans) or "none"
            raise ValueError(
                f"The suggester needs the spans {key!r} of {doc.text[:40]!r}, but it has no such group (groups: "
                f"{known}). Put the component that writes it before spancat, and add it to annotating_components in "
                "[training]; lex_ner writes 'lex_uncertain' if its setting `uncertain` is given."
            )
    places = ((span.start + at, span.end + at) for doc, at in zip(docs, offsets.tolist()) for span in doc.spans[key])
    return np.fromiter(chain.from_iterable(places), "i8").reshape(-1, 2)


def to_ragged(spans: Spans, offsets: np.ndarray, ops: Ops) -> Ragged:
    """Drop duplicates, order spans by start, then by length, and number tokens within each Doc."""
    stride = int(spans.max(initial=0)) + 1
    starts, ends = np.divmod(np.unique(spans[:, 0] * stride + spans[:, 1]), stride)
    counts = np.diff(np.searchsorted(starts, offsets), append=len(starts))
    own = np.stack([starts, ends], axis=1) - np.repeat(offsets, counts)[:, None]
    return Ragged(ops.asarray2i(own.astype("i4")), ops.asarray1i(counts.tolist()))
