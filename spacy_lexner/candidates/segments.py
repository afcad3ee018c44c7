"""Long Docs in segments that are no longer than the texts of training, cut at the ends of lines and sentences.

An encoder is only as good as in training where texts are as long as in training. What it reads at once is therefore
bounded by what it has seen, however a text has come to be one Doc.
"""

from itertools import pairwise
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.attrs import IS_SPACE, SPACY
from spacy.tokens import Doc
from thinc.api import Model

from ..lexicon.normalization import to_codes
from .batch_words import AttendedWords
from .doc_parts import cut_out
from .storage import count_characters, token_borders

LINE, SENTENCE, CLAUSE = 3, 2, 1  # how strong a break is after a token
LINE_ENDS = frozenset("\n\r\v\f\x85\u2028\u2029")
SENTENCE_ENDS = to_codes("。！？!?；;…．")
CLAUSE_ENDS = to_codes("，,、：:")
CLOSING = to_codes("”’」』）)》】\"'")
LEAST = 16  # however short the texts of training are, segments may have this many tokens
QUANTILE = 0.99  # a few texts of training are far longer than all others: they are cut too
OWN_SHARE = 0.75  # of a segment; the rest is context on both sides
JOINED: Any = "lex_joined"  # in the user data of texts that were joined for training


class Limits(NamedTuple):
    """What training has seen at once."""

    length: int  # tokens
    lines: bool  # whether texts had several lines; if not, every line is read as a text

    @classmethod
    def of(cls, docs: Iterable[Doc]) -> "Limits":
        """The limits that hold for the texts of training, without those that were joined."""
        lengths, n_lines = [], 0
        for doc in docs:
            if doc.user_data.get(JOINED):
                continue
            lengths.append(len(doc))
            n_lines += len(_line_ends(doc)) > 0
        length = int(np.quantile(lengths, QUANTILE, method="lower")) if lengths else 0
        return cls(max(LEAST, length), n_lines * 100 > len(lengths))


def set_limits(model: Model, limits: Limits) -> None:
    """Tell the taggers of a model, unless they know it already, what training has seen at once. Published models, whose
    labels are fixed, come with their own training."""
    for node in model.walk():
        if "limits" in node.attrs and node.attrs["limits"] is None and "labels" not in node.attrs:
            node.attrs["limits"] = list(limits)


class Segment(NamedTuple):
    """A part of a Doc, in tokens. The encoder reads `start` to `end`; the rows of `own_start` to `own_end` count."""

    start: int
    end: int
    own_start: int
    own_end: int

    @property
    def own(self) -> slice:
        """The own tokens, as rows of the segment."""
        return slice(self.own_start - self.start, self.own_end - self.start)


class Segments(NamedTuple):
    """The segments of a batch of Docs, each as a Doc."""

    docs: List[Doc]
    places: List[Tuple[int, Segment]]  # which Doc each is of, and where
    whole: List[Doc]  # the Docs that were cut
    line_ends: List[np.ndarray]  # int64[n], for each Doc the tokens between lines that are read as texts

    @property
    def lengths(self) -> List[int]:
        """How many tokens the Docs have that were cut."""
        return [len(doc) for doc in self.whole]

    def characters(self) -> Iterator[Tuple[int, int, range]]:
        """YIELDS (Tuple[int, int, range]): For each segment which Doc it is of, the character where it begins there,
        and the characters of the Doc that are its own."""
        borders = [[*token_borders(doc)[0].tolist(), count_characters(doc)] for doc in self.whole]
        for doc, (start, _, own_start, own_end) in self.places:
            yield doc, borders[doc][start], range(borders[doc][own_start], borders[doc][own_end])

    def join(self, rows: Sequence[Any], xp: Any) -> List[Any]:
        """The rows of the Docs, [n_tokens, nO] each, from those of the segments; zero for what ends a line."""
        joined = [xp.zeros((length, rows[0].shape[1]), rows[0].dtype) for length in self.lengths]
        for (doc, segment), own in zip(self.places, rows):
            joined[doc][segment.own_start : segment.own_end] = own[segment.own]
        return joined

    def split(self, rows: Sequence[Any], xp: Any) -> List[Any]:
        """The gradients of the segments' rows, zero outside of their own parts, from those of the Docs'."""
        split = [xp.zeros((segment.end - segment.start, rows[0].shape[1]), rows[0].dtype) for _, segment in self.places]
        for (doc, segment), part in zip(self.places, split):
            part[segment.own] = rows[doc][segment.own_start : segment.own_end]
        return split

    def join_attended(self, attended: Sequence[AttendedWords]) -> List[AttendedWords]:
        """The attention of the Docs' tokens, from that of the segments'."""
        parts: List[List[AttendedWords]] = [[] for _ in self.lengths]
        for (doc, segment), rows in zip(self.places, attended):
            tokens, starts, ends = (column + segment.start for column in rows[:3])
            own = (tokens >= segment.own_start) & (tokens < segment.own_end)
            parts[doc].append(AttendedWords(tokens[own], starts[own], ends[own], rows.weights[own]))
        return [AttendedWords(*map(np.concatenate, zip(*own))) for own in parts]


def cut_docs(docs: Sequence[Doc], limits: Limits) -> Optional[Segments]:
    """Cut Docs into segments; None if nothing has to be cut."""
    none = np.zeros(0, "i8")
    line_ends = [none if limits.lines else _line_ends(doc) for doc in docs]
    if all(len(doc) <= limits.length and not len(ends) for doc, ends in zip(docs, line_ends)):
        return None
    parts: List[Doc] = []
    places: List[Tuple[int, Segment]] = []
    for i, (doc, ends) in enumerate(zip(docs, line_ends)):
        segments = list(cut_doc(doc, limits, ends))
        places += [(i, segment) for segment in segments]
        whole = segments == [Segment(0, len(doc), 0, len(doc))]
        parts += [doc] if whole else cut_out(doc, [(each.start, each.end) for each in segments])
    return Segments(parts, places, list(docs), line_ends)


def cut_doc(doc: Doc, limits: Limits, line_ends: np.ndarray) -> Iterator[Segment]:
    """YIELDS (Segment): The segments of a Doc. Their own parts cover it once, without `line_ends`, the tokens that end
    lines (int64[n]). Where there is nothing else, the Doc is one segment."""
    borders = [-1, *line_ends.tolist(), len(doc)]
    lines = [(before + 1, after) for before, after in pairwise(borders) if after > before + 1] or [(0, len(doc))]
    long = any(end - start > limits.length for start, end in lines)
    breaks = break_strengths(doc) if long else None
    for start, end in lines:
        if breaks is None or end - start <= limits.length:
            yield Segment(start, end, start, end)
            continue
        for own_start, own_end in _cut_line(breaks[start:end], limits.length):
            before = (limits.length - (own_end - own_start)) // 2
            first = max(0, min(own_start - before, end - start - limits.length))
            last = min(end - start, first + limits.length)
            yield Segment(start + first, start + last, start + own_start, start + own_end)


def _cut_line(breaks: np.ndarray, length: int) -> Iterator[Tuple[int, int]]:
    """Cut at the strongest breaks, the last of equals, so that no part has more than OWN_SHARE of a segment."""
    most = max(1, int(length * OWN_SHARE))
    start = 0
    while len(breaks) - start > most:
        least = most // 4
        window = breaks[start + least : start + most]
        best = int(len(window) - 1 - np.argmax(window[::-1])) if window.any() else len(window) - 1
        end = start + least + best + 1
        yield start, end
        start = end
    yield start, len(breaks)


def break_strengths(doc: Doc) -> np.ndarray:
    """How well a text may be cut after each token, int8[n_tokens]: LINE, SENTENCE, CLAUSE (and white space), or 0."""
    codes = to_codes(doc.text)
    _, stops = token_borders(doc)
    last = codes[stops - 1]
    strengths = np.where(np.isin(last, CLAUSE_ENDS) | doc.to_array([SPACY]).astype(bool).reshape(-1), CLAUSE, 0)
    strengths[doc.to_array([IS_SPACE]).astype(bool).reshape(-1)] = CLAUSE
    strengths[np.isin(last, SENTENCE_ENDS)] = SENTENCE
    closing = np.isin(last, CLOSING)
    for _ in range(2):  # a closing quotation mark or bracket belongs to its sentence
        moved = np.flatnonzero(closing[1:] & (strengths[:-1] == SENTENCE))
        strengths[moved], strengths[moved + 1] = 0, SENTENCE
    strengths[_line_ends(doc)] = LINE
    return strengths.astype("i1")


def _line_ends(doc: Doc) -> np.ndarray:
    """The tokens of white space that end a line, int64[n]."""
    spaces = np.flatnonzero(doc.to_array([IS_SPACE]))
    return np.array([i for i in spaces.tolist() if not LINE_ENDS.isdisjoint(doc[i].text)], "i8")
