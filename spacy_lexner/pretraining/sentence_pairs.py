"""Next sentence prediction: cutting documents into pairs of segments, each pair a Doc of its own."""

from random import Random
from typing import Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc

N_SPECIAL = 3  # [CLS] A [SEP] B [SEP]
MIN_LENGTH = N_SPECIAL + 2
DEFAULT_SHORT_SHARE = 0.1
SEPARATOR = "\n"  # the token between two segments: no lexicon word contains white space
UNLABELLED = -1
_TRIES = 10


class Segment(NamedTuple):
    """Wordpieces of a document, half-open."""

    document: int
    start: int
    end: int


class SentencePair(NamedTuple):
    a: Segment
    b: Segment
    is_random: bool  # b was drawn from another document; otherwise it follows a


def sentence_pairs(
    documents: Sequence[Sequence[int]],
    index: int,
    max_length: int,
    rng: Random,
    *,
    short_share: float = DEFAULT_SHORT_SHARE,
) -> Iterator[SentencePair]:
    """Cut one document into pairs (Devlin et al. 2019, section 3.1 and appendix A.2; the rules of the authors' script).

    Sentences are gathered until they fill a sequence; a random number of them, from the first, is segment A. With even
    odds, and always if nothing is left, B is drawn from another document, and the sentences it displaces are used for
    the next pair. Pairs that are too long lose pieces from the longer side, at either end. So more than half of the
    pairs are random, the more so the shorter the documents are.

    Random numbers are drawn in the order of that script; pairs are yielded one by one, so that masking may draw in
    between.

    documents (Sequence[Sequence[int]]): The number of wordpieces of each sentence of each document. Empty sentences are
        skipped. If there is only one document, random partners come from itself.
    index (int): The document to cut.
    max_length (int): Length of a sequence, including the three special pieces. Raises ValueError below 5.
    short_share (float): Share of documents for which a shorter length is drawn.
    YIELDS (SentencePair): Two segments, neither empty, that fit into `max_length` with the special pieces.
    """
    if max_length < MIN_LENGTH:
        raise ValueError(f"max_length is {max_length}; a pair of segments needs at least {MIN_LENGTH}.")
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
    """Shorten a pair to `limit` pieces: always the longer segment (in a tie B), with even odds at its front or back."""
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


class PairedDoc(NamedTuple):
    """A pair of segments as a Doc."""

    doc: Doc  # the first segment, a token in place of [SEP], the second segment
    separator: int  # the index of that token
    label: int  # 0: the second follows the first; 1: it is random; UNLABELLED: random, but from the same document
    sources: Tuple["TokenRange", "TokenRange"]  # the tokens of both segments in the batch


class TokenRange(NamedTuple):
    """Tokens of one Doc of a batch, half-open."""

    doc: int
    start: int
    end: int


def pair_docs(
    docs: Sequence[Doc], counts: np.ndarray, max_length: int, rng: Random, *, short_share: float
) -> List[PairedDoc]:
    """Cut the documents of a batch into pairs; random partners come from the same batch.

    docs (Sequence[Doc]): Documents with sentence boundaries. Raises ValueError if one has none.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    max_length, rng, short_share: See `sentence_pairs`.
    RETURNS (List[PairedDoc]): The pairs.
    """
    docs_counts = np.split(counts, np.cumsum([len(doc) for doc in docs])[:-1]) if docs else []
    used = [i for i, doc in enumerate(docs) if len(doc)]
    lengths = [_sentence_lengths(docs[i], docs_counts[i]) for i in used]
    ends = [np.cumsum(docs_counts[i]) for i in used]
    tokens = [[(token.text, bool(token.whitespace_)) for token in docs[i]] for i in used]
    paired: List[PairedDoc] = []
    for index in range(len(used)):
        for a, b, is_random in sentence_pairs(lengths, index, max_length, rng, short_share=short_share):
            first, second = (_whole_tokens(segment, ends[segment.document]) for segment in (a, b))
            if first.start >= first.end or second.start >= second.end:
                continue
            words = [
                *tokens[first.doc][first.start : first.end],
                (SEPARATOR, False),
                *tokens[second.doc][second.start : second.end],
            ]
            doc = Doc(docs[used[index]].vocab, words=[w for w, _ in words], spaces=[s for _, s in words])
            label = UNLABELLED if is_random and a.document == b.document else int(is_random)
            sources = (first._replace(doc=used[first.doc]), second._replace(doc=used[second.doc]))
            paired.append(PairedDoc(doc, first.end - first.start, label, sources))
    return paired


def separator_pieces(pairs: Sequence[PairedDoc], counts: np.ndarray) -> np.ndarray:
    """The wordpieces in place of [SEP] between segments, int64[n_pairs], from the counts of all pairs' tokens."""
    borders = np.cumsum([0, *(len(pair.doc) for pair in pairs)])[:-1]
    tokens = borders + np.array([pair.separator for pair in pairs], "i8")
    return (np.cumsum(counts) - counts)[tokens]


def _sentence_lengths(doc: Doc, counts: np.ndarray) -> List[int]:
    if not doc.has_annotation("SENT_START") and len(doc) > 1:
        raise ValueError(
            f"Next sentence prediction needs sentence boundaries, but the Doc {doc.text[:30]!r}... has none. Read the "
            "text with spacy-lexner.TextCorpus.v1 and sentences = true (one sentence per line, a blank line after each "
            "document), or give .spacy files of Docs with sentences."
        )
    starts = doc.to_array([SENT_START]).reshape(-1).astype("int64") == 1
    starts[0] = True
    return np.add.reduceat(counts, np.flatnonzero(starts)).tolist()


def _whole_tokens(segment: Segment, ends: np.ndarray) -> TokenRange:
    """The tokens whose wordpieces all lie in the segment."""
    begins_at = np.concatenate([[0], ends[:-1]])
    start = int(np.searchsorted(begins_at, segment.start, "left"))
    end = int(np.searchsorted(ends, segment.end, "right"))
    return TokenRange(segment.document, start, end)
