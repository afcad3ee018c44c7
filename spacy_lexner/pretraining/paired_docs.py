"""Documents cut into pairs of segments, each pair a Doc of its own."""

from random import Random
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from .sentence_pairs import Segment, sentence_pairs

SEPARATOR = "\n"  # the token between two segments: no lexicon word runs over white space
UNLABELLED = -1


class PairedDoc(NamedTuple):
    """A pair of segments.

    doc (Doc): The first segment, a token that stands for [SEP], the second segment.
    separator (int): The number of that token.
    label (int): 0 if the second segment follows the first, 1 if it is random; UNLABELLED if a random one could be had
        from the same document only.
    sources (Tuple[TokenRange, TokenRange]): Where the tokens of both segments come from.
    """

    doc: Doc
    separator: int
    label: int
    sources: Tuple["TokenRange", "TokenRange"]


class TokenRange(NamedTuple):
    """Tokens of one Doc of a batch."""

    doc: int
    start: int
    end: int


def pair_docs(
    docs: Sequence[Doc], counts: np.ndarray, max_length: int, rng: Random, *, short_share: float
) -> List[PairedDoc]:
    """Cut the documents of a batch into pairs; random partners come from the same batch.

    docs (Sequence[Doc]): Documents with sentence bounds. Raises ValueError where there are none.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    max_length (int): Most wordpieces of a pair, the special ones counted.
    rng (Random): Source of chance.
    short_share (float): See `sentence_pairs`.
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
    """Find the wordpieces that stand for [SEP] between two segments.

    pairs (Sequence[PairedDoc]): The pairs.
    counts (Ints[n_tokens]): Wordpieces of each token, over the Docs of all pairs.
    RETURNS (Ints[n_pairs]): Numbers of wordpieces.
    """
    borders = np.cumsum([0, *(len(pair.doc) for pair in pairs)])[:-1]
    tokens = borders + np.array([pair.separator for pair in pairs], "i8")
    return (np.cumsum(counts) - counts)[tokens]


def _sentence_lengths(doc: Doc, counts: np.ndarray) -> List[int]:
    if not doc.has_annotation("SENT_START") and len(doc) > 1:
        raise ValueError(
            f"Next sentence prediction needs sentence bounds, but the Doc {doc.text[:30]!r}... has none. Read the text "
            "with spacy-lexner.TextCorpus.v1 and sentences = true (one sentence a line, a blank line after each "
            "document), or give .spacy files of Docs with sentences."
        )
    starts = doc.to_array([SENT_START]).reshape(-1).astype("int64") == 1
    starts[0] = True
    return np.add.reduceat(counts, np.flatnonzero(starts)).tolist()


def _whole_tokens(segment: Segment, ends: np.ndarray) -> TokenRange:
    """The tokens all of whose wordpieces lie in the segment."""
    begins_at = np.concatenate([[0], ends[:-1]])
    start = int(np.searchsorted(begins_at, segment.start, "left"))
    end = int(np.searchsorted(ends, segment.end, "right"))
    return TokenRange(segment.document, start, end)
