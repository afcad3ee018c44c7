"""Storing the candidate words of a Doc in its user data, and mapping them to the tokens they cover."""

import struct
from functools import cached_property
from itertools import pairwise
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc

from ..lexicon.entry import Labels
from ..lexicon.level import Candidates
from ..lexicon.matcher import Matcher
from ..lexicon.shared_matcher import find_matcher

# spaCy handles keys of this form: to_bytes, DocBin and n_process keep them, Doc.from_docs drops them with a warning.
USER_DATA_KEY: Any = ("._.", "lex_matches", None, None)
# Languages written without spaces: any character of a text may begin a word.
UNSPACED = frozenset(["zh", "yue", "wuu", "lzh", "ja", "th", "lo", "km", "my", "bo", "dz"])
HEADER = struct.Struct("<QII")  # version of the matcher, characters of the text, number of candidates


class LexMatch(NamedTuple):
    """A lexicon word in a text: `doc.text[start:end] == word`."""

    start: int
    end: int
    word: str
    labels: Labels = ()  # from the lexicon that found it; empty if no pipeline of this process still has that lexicon


class LexMatches(Sequence[LexMatch]):
    """The candidate words of a Doc as `doc._.lex_matches` shows them; a LexMatch is made when it is read."""

    def __init__(self, text: str, version: int, candidates: Candidates) -> None:
        self._text = text
        self._version = version  # of the Matcher that found them
        self._candidates = candidates

    @cached_property
    def _labels(self) -> Dict[int, Labels]:
        matcher = find_matcher(self._version)
        return {} if matcher is None else matcher.lexicon.labels(self._candidates.hashes)

    def __len__(self) -> int:
        return len(self._candidates.starts)

    def __getitem__(self, index):  # type: ignore[override]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        start, end = int(self._candidates.starts[i]), int(self._candidates.ends[i])
        return LexMatch(start, end, self._text[start:end], self._labels.get(i, ()))

    def __iter__(self) -> Iterator[LexMatch]:
        for i, (start, end) in enumerate(zip(self._candidates.starts.tolist(), self._candidates.ends.tolist())):
            yield LexMatch(start, end, self._text[start:end], self._labels.get(i, ()))

    def __repr__(self) -> str:
        return f"LexMatches({list(self)!r})"


def get_matches(doc: Doc) -> Optional[LexMatches]:
    """The candidate words of a Doc; None if no matcher has run on it."""
    stored = get_candidates(doc)
    return None if stored is None else LexMatches(doc.text, *stored)


def matches_near(doc: Doc, start: int, end: int) -> Optional[List[LexMatch]]:
    """The candidate words of a Doc that share characters with this span; None if no matcher has run on it."""
    stored = get_candidates(doc)
    if stored is None:
        return None
    version, candidates = stored
    near = candidates.take((candidates.starts < end) & (candidates.ends > start))
    if not len(near.starts):
        return []
    text, offset = text_around(doc, int(near.starts.min()), int(near.ends.max()))
    moved = Candidates(near.starts - offset, near.ends - offset, near.hashes)
    found = LexMatches(text, version, moved)
    return [match._replace(start=match.start + offset, end=match.end + offset) for match in found]


def text_around(doc: Doc, start: int, end: int) -> Tuple[str, int]:
    """The text of the tokens around characters `start` to `end` (exclusive), and the character where it begins: for a
    long Doc much faster than `doc.text`, which joins all tokens."""
    begins, _ = token_borders(doc)
    first, last = int(np.searchsorted(begins, start, "right")) - 1, int(np.searchsorted(begins, end, "left"))
    return doc[first:last].text_with_ws, int(begins[first])


def count_characters(doc: Doc) -> int:
    """`len(doc.text)`, without joining the texts of all tokens."""
    return doc[-1].idx + len(doc[-1].text_with_ws) if len(doc) else 0


def set_candidates(doc: Doc, version: int, candidates: Candidates) -> None:
    """Store candidates in a Doc, packed as bytes, with the version of the Matcher that found them."""
    header = HEADER.pack(version, count_characters(doc), len(candidates.starts))
    arrays = (candidates.starts.astype("<i4"), candidates.ends.astype("<i4"), candidates.hashes.astype("<u8"))
    doc.user_data[USER_DATA_KEY] = header + b"".join(array.tobytes() for array in arrays)


def get_version(doc: Doc) -> Optional[int]:
    """The version of the Matcher that found the candidates of a Doc; None if none has run on this text."""
    header = _read_header(doc)
    return None if header is None else header[1]


def _read_header(doc: Doc) -> Optional[Tuple[bytes, int, int, int]]:
    """The stored bytes, the version, the length of the text and the number of candidates; None if they are not ours."""
    packed = doc.user_data.get(USER_DATA_KEY)
    if not isinstance(packed, bytes) or len(packed) < HEADER.size:
        return None
    version, n_characters, n = HEADER.unpack_from(packed)
    fits = n_characters == count_characters(doc) and len(packed) == HEADER.size + 16 * n
    return (packed, version, n_characters, n) if fits else None


def get_candidates(doc: Doc) -> Optional[Tuple[int, Candidates]]:
    """The version of the Matcher that ran on a Doc, and the candidates it found; None if none has run on this text."""
    header = _read_header(doc)
    if header is None:
        return None
    packed, version, n_characters, n = header
    starts = np.frombuffer(packed, "<i4", n, HEADER.size)
    ends = np.frombuffer(packed, "<i4", n, HEADER.size + 4 * n)
    hashes = np.frombuffer(packed, "<u8", n, HEADER.size + 8 * n)
    if n and (starts.min() < 0 or ends.max() > n_characters or (ends <= starts).any()):
        return None  # not written by us
    return version, Candidates(starts, ends, hashes)


def renew_candidates(doc: Doc, matcher: Matcher) -> None:
    """Match a Doc again if another Matcher found its candidates. A Doc that was never matched is left alone."""
    if get_version(doc) not in (None, matcher.version):
        set_candidates(doc, matcher.version, find_candidates(matcher, [doc])[0])


def find_candidates(matcher: Matcher, docs: Sequence[Doc]) -> List[Candidates]:
    """The candidates of each Doc: in languages written without spaces all words in its text, whatever its tokens are;
    in others those words aligned to its tokens as the match options say. The Docs are not changed."""
    found, borders = matcher.match([doc.text for doc in docs])
    mode = matcher.options.alignment_mode
    words = (found.take(slice(low, high)) for low, high in pairwise(borders.tolist()))
    return [own if is_unspaced(doc) else align_candidates(doc, own, mode) for doc, own in zip(docs, words)]


def is_unspaced(doc: Doc) -> bool:
    """Whether the language of a Doc is written without spaces."""
    return doc.vocab.lang in UNSPACED


def align_candidates(doc: Doc, candidates: Candidates, alignment_mode: str = "strict") -> Candidates:
    """Move candidates to token borders, or drop them, as `Doc.char_span` does: "strict" drops those that do not begin
    and end on a border, "contract" keeps the tokens wholly inside, "expand" takes all tokens touched. White space after
    tokens (`whitespace_`) is never included."""
    if len(doc) == count_characters(doc) or not len(candidates.starts):
        return candidates
    begins, stops = token_borders(doc)
    if alignment_mode == "strict":
        _, _, keep = token_spans(doc, candidates)
        return candidates.take(keep)
    if alignment_mode == "contract":
        first = np.searchsorted(begins, candidates.starts, "left")
        last = np.searchsorted(stops, candidates.ends, "right") - 1
    else:
        first = np.searchsorted(stops, candidates.starts, "right")
        last = np.searchsorted(begins, candidates.ends, "left") - 1
    keep = first <= last
    first, last = first[keep], last[keep]
    moved = Candidates(begins[first].astype("i4"), stops[last].astype("i4"), candidates.hashes[keep])
    return moved.take(np.lexsort((moved.ends, moved.starts)))


def token_borders(doc: Doc) -> Tuple[np.ndarray, np.ndarray]:
    """The first character of every token, and one past its last: int64[n_tokens] each."""
    if len(doc) == count_characters(doc):  # no token is empty, so each is one character
        begins = np.arange(len(doc))
        return begins, begins + 1
    array = doc.to_array([IDX, LENGTH]).reshape(len(doc), 2).astype("i8")
    return array[:, 0], array[:, 0] + array[:, 1]


def batch_borders(docs: Sequence[Doc]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The token borders of Docs in their joined text: int64[n_tokens] first characters, int64[n_tokens] one past the
    last, int64[n_docs + 1] where each text begins, and the end."""
    offsets = np.cumsum([0, *map(count_characters, docs)])
    none = np.zeros(0, "i8")
    borders = [(none, none), *map(token_borders, docs)]
    begins, stops = (np.concatenate(column) for column in zip(*borders))
    shift = np.repeat(offsets[:-1], [len(doc) for doc in docs])
    return begins + shift, stops + shift, offsets


def place_spans(
    docs: Sequence[Doc], spans: Sequence[Candidates], counts: np.ndarray
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the units that spans of characters (`starts`, `ends`) cover.

    counts (numpy.ndarray): int64[n_tokens], the units of each token, over all Docs.
    RETURNS (Tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]): For all spans int64[n] first unit, int64[n] one past
        the last, and bool[n], whether the span begins and ends with units; if not, its units mean nothing.
    """
    begins, stops, offsets = batch_borders(docs)
    unit_ends = np.cumsum(counts)
    unit_at_start, unit_at_end = np.full((2, offsets[-1] + 1), -1, "i8")  # by character
    unit_at_start[begins], unit_at_end[stops] = unit_ends - counts, unit_ends
    none = np.zeros(0, "i8")
    starts = unit_at_start[np.concatenate([none, *(part.starts + at for part, at in zip(spans, offsets))])]
    ends = unit_at_end[np.concatenate([none, *(part.ends + at for part, at in zip(spans, offsets))])]
    return starts, ends, (starts >= 0) & (ends >= 0)


def token_spans(doc: Doc, candidates: Candidates) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `place_spans`, for the current tokens of one Doc."""
    return place_spans([doc], [candidates], np.ones(len(doc), "i8"))
