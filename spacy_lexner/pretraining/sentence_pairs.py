"""The pairs of segments that next sentence prediction tells apart."""

from random import Random
from typing import Iterator, NamedTuple, Sequence, Tuple

N_SPECIAL = 3  # [CLS] A [SEP] B [SEP]
MIN_LENGTH = N_SPECIAL + 2
DEFAULT_SHORT_SHARE = 0.1
_TRIES = 10


class Segment(NamedTuple):
    """A stretch of a document's wordpieces."""

    document: int
    start: int
    end: int


class SentencePair(NamedTuple):
    a: Segment
    b: Segment
    is_random: bool  # b was drawn from another document; otherwise it is what follows a


def sentence_pairs(
    documents: Sequence[Sequence[int]],
    index: int,
    max_length: int,
    rng: Random,
    *,
    short_share: float = DEFAULT_SHORT_SHARE,
) -> Iterator[SentencePair]:
    """Cut one document into pairs (Devlin et al. 2019, section 3.1 and appendix A.2; the rules of the authors' script).

    Sentences are gathered until they fill a sequence; the first few of them, at random, are segment A. With even odds,
    and always where there is nothing left, B is drawn from another document, and the sentences it displaces are used
    for the next pair. Pairs that are too long lose pieces from the longer side, at either end. So the share of random
    pairs is above one half, and the shorter the documents the higher.

    Chance is drawn in the order of that script; the pairs come one by one, so that masking may draw in between.

    documents (Sequence[Sequence[int]]): The number of wordpieces of each sentence of each document. Empty sentences
        count for nothing. With one document alone, random partners come from itself.
    index (int): The document to cut.
    max_length (int): Length of a sequence, the three special pieces counted. Raises ValueError below 5.
    rng (Random): Source of chance.
    short_share (float): Share of documents for which a shorter length is drawn.
    YIELDS (SentencePair): Both segments are never empty, and together with the special pieces not longer than
        `max_length`.
    """
    if max_length < MIN_LENGTH:
        raise ValueError(f"A pair of segments needs a length of at least {MIN_LENGTH}, not {max_length}.")
    limit = max_length - N_SPECIAL
    target = rng.randint(2, limit) if rng.random() < short_share else limit
    bounds = _bounds(documents[index])
    first, last = 0, 0  # the sentences gathered so far: first <= i < last
    while last < len(bounds):
        last += 1
        start, end = bounds[first][0], bounds[last - 1][1]
        if last < len(bounds) and end - start < target:
            continue
        n_first = rng.randint(1, last - first - 1) if last - first > 1 else 1
        middle = bounds[first + n_first - 1][1]
        a = Segment(index, start, middle)
        is_random = last - first == 1 or rng.random() < 0.5
        if is_random:
            b = _random_segment(documents, index, target - (middle - start), rng)
            last = first + n_first  # the others are put back
        else:
            b = Segment(index, middle, end)
        yield SentencePair(*truncate_pair(a, b, limit, rng), is_random)
        first = last


def truncate_pair(a: Segment, b: Segment, limit: int, rng: Random) -> Tuple[Segment, Segment]:
    """Take pieces from the longer segment, from B at a tie, at its front or its back with even odds.

    a (Segment): The first segment.
    b (Segment): The second segment.
    limit (int): Pieces that both may have together.
    rng (Random): Source of chance.
    RETURNS (Tuple[Segment, Segment]): What is left.
    """
    while (a.end - a.start) + (b.end - b.start) > limit:
        longer = a if a.end - a.start > b.end - b.start else b
        cut = longer._replace(start=longer.start + 1) if rng.random() < 0.5 else longer._replace(end=longer.end - 1)
        a, b = (cut, b) if longer is a else (a, cut)
    return a, b


def _random_segment(documents: Sequence[Sequence[int]], index: int, target: int, rng: Random) -> Segment:
    other = index
    for _ in range(_TRIES):
        other = rng.randint(0, len(documents) - 1)
        if other != index:
            break
    bounds = _bounds(documents[other])
    first = rng.randint(0, len(bounds) - 1)
    start = bounds[first][0]
    end = next((end for _, end in bounds[first:] if end - start >= target), bounds[-1][1])
    return Segment(other, start, end)


def _bounds(lengths: Sequence[int]) -> Sequence[Tuple[int, int]]:
    bounds, position = [], 0
    for length in lengths:
        if length:
            bounds.append((position, position + length))
        position += length
    return bounds
