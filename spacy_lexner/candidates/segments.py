"""Long Docs cut into segments no longer than training texts, with the separate texts within a Doc read one by one.

An encoder is as good as in training only on inputs like those in training. So the length of its input is bounded by
what it has seen, no matter how much text was put into one Doc.
"""

from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from .batch_words import AttendedWords
from .breaks import SENTENCE, break_strengths
from .doc_parts import cut_out
from .limits import Limits
from .storage import count_characters, token_borders

OWN_SHARE = 0.5  # of a segment of a long sentence; the rest is context on both sides
READINGS = (1.0, 0.7)  # lengths of the segments of a long sentence, relative to the limit: it is read more than once


class Segment(NamedTuple):
    """A part of a Doc, in tokens. The encoder reads `start` to `end`; only rows `own_start` to `own_end` are used."""

    start: int
    end: int
    own_start: int
    own_end: int
    reading: int = 0  # long sentences are read several times, cut at different places
    weight: float = 1.0  # of its rows; for each token, those of all readings add up to 1

    @property
    def own(self) -> slice:
        """The own tokens, as rows of the segment."""
        return slice(self.own_start - self.start, self.own_end - self.start)


class Segments(NamedTuple):
    """The segments of a batch of Docs, each as a Doc."""

    docs: List[Doc]
    places: List[Tuple[int, Segment]]  # for each segment the number of its Doc, and its place in it
    whole: List[Doc]  # the Docs that were cut
    separators: List[np.ndarray]  # int64[n], for each Doc the white-space tokens between texts
    text_ends: List[np.ndarray]  # int64[n], for each Doc the tokens directly followed by another text

    @property
    def lengths(self) -> List[int]:
        """The number of tokens of each whole Doc."""
        return [len(doc) for doc in self.whole]

    def characters(self) -> Iterator[Tuple[int, int, range]]:
        """YIELDS (Tuple[int, int, range]): For each segment the number of its Doc, the character of the Doc where it
        begins, and the characters of its own part, of which the first reading has all and later ones none."""
        borders = [[*token_borders(doc)[0].tolist(), count_characters(doc)] for doc in self.whole]
        for doc, segment in self.places:
            own = range(borders[doc][segment.own_start], borders[doc][segment.own_end])
            yield doc, borders[doc][segment.start], range(0) if segment.reading else own

    def join(self, rows: Sequence[Any], xp: Any) -> List[Any]:
        """Join the rows of segments to rows of Docs, [n_tokens, nO] each: means over readings, zero for separators."""
        joined = [xp.zeros((length, rows[0].shape[1]), rows[0].dtype) for length in self.lengths]
        for (doc, segment), own in zip(self.places, rows):
            joined[doc][segment.own_start : segment.own_end] += segment.weight * own[segment.own]
        return joined

    def split(self, rows: Sequence[Any], xp: Any) -> List[Any]:
        """Split gradients of rows of Docs into those of segments; zero outside their own parts."""
        split = [xp.zeros((segment.end - segment.start, rows[0].shape[1]), rows[0].dtype) for _, segment in self.places]
        for (doc, segment), part in zip(self.places, split):
            part[segment.own] = segment.weight * rows[doc][segment.own_start : segment.own_end]
        return split

    def join_attended(self, attended: Sequence[AttendedWords]) -> List[AttendedWords]:
        """Join the attention of segments to that of Docs; of several readings, the first counts."""
        parts: List[List[AttendedWords]] = [[] for _ in self.lengths]
        for (doc, segment), rows in zip(self.places, attended):
            tokens, starts, ends = (column + segment.start for column in rows[:3])
            own = (tokens >= segment.own_start) & (tokens < segment.own_end) & (segment.reading == 0)
            parts[doc].append(AttendedWords(tokens[own], starts[own], ends[own], rows.weights[own]))
        return [AttendedWords(*map(np.concatenate, zip(*own))) for own in parts]


def cut_docs(docs: Sequence[Doc], limits: Limits) -> Optional[Segments]:
    """Cut Docs into segments; None if nothing has to be cut."""
    found = [limits.find_texts(doc) for doc in docs]
    if all(texts == [(0, len(doc))] and len(doc) <= limits.length for doc, (texts, _) in zip(docs, found)):
        return None
    parts: List[Doc] = []
    places: List[Tuple[int, Segment]] = []
    for i, (doc, (texts, _)) in enumerate(zip(docs, found)):
        segments = list(cut_doc(doc, texts, limits.length))
        places += [(i, segment) for segment in segments]
        whole = segments == [Segment(0, len(doc), 0, len(doc))]
        parts += [doc] if whole else cut_out(doc, [(each.start, each.end) for each in segments])
    text_ends = [_touching(texts) for texts, _ in found]
    return Segments(parts, places, list(docs), [separators for _, separators in found], text_ends)


def cut_doc(doc: Doc, texts: Sequence[Tuple[int, int]], length: int) -> Iterator[Segment]:
    """YIELDS (Segment): The segments, of at most `length` tokens, of a Doc's texts (first token, end). In each reading
    of a sentence, their own parts cover it exactly once."""
    breaks = break_strengths(doc) if any(end - start > length for start, end in texts) else None
    for start, end in texts:
        if breaks is None or end - start <= length:
            yield Segment(start, end, start, end)
            continue
        for first, last in _pack_sentences(start, end, breaks, length):
            if last - first <= length:
                yield Segment(first, last, first, last)
            else:
                for reading, share in enumerate(READINGS):
                    for segment in _cut_sentence(first, last, breaks, max(1, int(length * share))):
                        yield segment._replace(reading=reading, weight=1 / len(READINGS))


def _pack_sentences(start: int, end: int, breaks: np.ndarray, length: int) -> Iterator[Tuple[int, int]]:
    """YIELDS (Tuple[int, int]): Runs of whole sentences of at most `length` tokens, and single longer sentences."""
    last = start
    for stop in [*(start + 1 + np.flatnonzero(breaks[start : end - 1] >= SENTENCE)).tolist(), end]:
        if last > start and stop - start > length:
            yield start, last
            start = last
        last = stop
    yield start, last


def _cut_sentence(start: int, end: int, breaks: np.ndarray, length: int) -> Iterator[Segment]:
    """YIELDS (Segment): A sentence longer than `length` tokens is cut at the strongest breaks, the last of equals, into
    segments of which at most OWN_SHARE is their own. The rest is context, on both sides where there is some."""
    most = max(1, int(length * OWN_SHARE))
    own_start = start
    while own_start < end:
        own_end = end
        if end - own_start > most:
            window = breaks[own_start + most // 4 : own_start + most]
            best = int(len(window) - 1 - np.argmax(window[::-1])) if window.any() else len(window) - 1
            own_end = own_start + most // 4 + best + 1
        before = (length - (own_end - own_start)) // 2
        first = max(start, min(own_start - before, end - length))
        yield Segment(first, min(end, first + length), own_start, own_end)
        own_start = own_end


def _touching(texts: Sequence[Tuple[int, int]]) -> np.ndarray:
    """The last token of each text that is directly followed by another text, int64[n]."""
    if len(texts) == 1:  # by far the most frequent case
        return np.zeros(0, "i8")
    starts, ends = np.array(texts, "i8").T
    return ends[:-1][ends[:-1] == starts[1:]] - 1
