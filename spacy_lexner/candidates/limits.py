"""The limits of what a tagger saw in training: how long texts were and what ended them. By these, a long Doc is split
into the texts that would have been separate in training."""

import re
from collections import Counter
from functools import lru_cache
from typing import Any, Iterable, List, NamedTuple, Tuple

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model

from ..lexicon.normalization import to_codes
from .batch_words import expand_ranges
from .breaks import CLOSING, LINE_ENDS, SENTENCE_ENDS, before_space, end_signs, last_codes, line_ends
from .storage import get_candidates, token_borders
from .unit_docs import find_listener

LEAST = 16  # tokens that a segment may always have, however short the training texts are
LONG, SHORT = 0.99, 0.05  # quantiles of length; not the extremes, since a few training texts are far longer than others
SPACE = " "  # any white space within a line
# These end a text unless training texts have them inside. Other signs may be part of names: training texts must also
# end with them.
ALWAYS = "。！？"
EXCEPTIONS = 0.02  # share of a sign's occurrences that may be inside training texts
MAY_FOLLOW = "".join(map(chr, [*SENTENCE_ENDS, *CLOSING]))  # characters that still belong to a sentence after its end
JOINED: Any = "lex_joined"  # in the user data of texts that were joined for training


class Limits(NamedTuple):
    """The limits of a tagger's training texts."""

    length: int  # most tokens to read together
    lines: bool  # whether texts had several lines; if not, every line is read as a text
    stops: str = ""  # the signs (SPACE for white space) that always end a text
    shortest: int = 0  # white space ends only texts of at least this many tokens

    @classmethod
    def of(cls, docs: Iterable[Doc]) -> "Limits":
        """Derive the limits from training texts, leaving out those that were joined."""
        lengths: List[int] = []
        inside: Counter[str] = Counter()
        at_end: Counter[str] = Counter()
        n_lines = 0
        for doc in docs:
            if len(doc) and not doc.user_data.get(JOINED):
                lengths.append(len(doc))
                n_lines += not LINE_ENDS.isdisjoint(doc.text.strip())
                _count_signs(doc, inside, at_end)
        length, shortest = np.quantile(lengths, [LONG, SHORT], method="lower").tolist() if lengths else (0, 0)
        known = {*ALWAYS, *(sign for sign, n in at_end.items() if 100 * n > len(lengths))}
        stops = {sign for sign in known if inside[sign] <= EXCEPTIONS * at_end[sign]}
        if 100 * inside[SPACE] <= len(lengths):
            stops.add(SPACE)
        return cls(max(LEAST, int(length)), n_lines * 100 > len(lengths), "".join(sorted(stops)), int(shortest))

    def find_texts(self, doc: Doc) -> Tuple[List[Tuple[int, int]], np.ndarray]:
        """RETURNS (Tuple[List[Tuple[int, int]], numpy.ndarray]): First token and end of each text in a Doc, and the
        white-space tokens between them, int64[n]. A Doc of only white space is one text."""
        if not _may_split(self.stops).search(doc.text):  # by far the most frequent case
            return [(0, len(doc))], np.zeros(0, "i8")
        separators = np.zeros(0, "i8") if self.lines else line_ends(doc)
        starts, ends = _between(separators, len(doc))
        if self.stops and len(starts):
            is_stop = np.isin(end_signs(doc), to_codes(self.stops.replace(SPACE, "")))
            starts, ends = _cut(starts, ends, _outside_words(doc, np.flatnonzero(is_stop) + 1), 1)
            if SPACE in self.stops:
                starts, ends = _cut(starts, ends, _outside_words(doc, _spaces(doc)), max(1, self.shortest))
                starts, ends = _strip(doc, starts, ends)
                separators = np.setdiff1d(np.arange(len(doc)), expand_ranges(starts, ends - starts))
        return list(zip(starts.tolist(), ends.tolist())) or [(0, len(doc))], separators


def are_limits(value: Any) -> bool:
    """Whether a value is a valid list of Limits as saved with a model; older versions saved only the first two."""
    if not isinstance(value, list) or not 2 <= len(value) <= len(Limits._fields):
        return False
    length, lines, stops, shortest = Limits(*value)
    numbers = all(type(number) is int and 0 <= number < 2**31 for number in (length, shortest))
    return numbers and length > 0 and isinstance(lines, bool) and isinstance(stops, str)


def set_limits(model: Model, limits: Limits) -> None:
    """Set the limits of a model's taggers that have none yet. Published models, whose labels are fixed, bring the
    limits of their own training. A tagger that listens has none: its vectors are those of whole Docs, also after
    `replace_listeners`."""
    for node in model.walk():
        is_free = node.attrs.get("limits", ()) is None and "labels" not in node.attrs
        if is_free and find_listener(node) is None:
            node.attrs["limits"] = list(limits)


@lru_cache(maxsize=64)
def _may_split(stops: str) -> "re.Pattern[str]":
    """A pattern that occurs in every Doc that has to be split: white space, or a sign before the end."""
    signs, after = (re.escape(some) for some in (stops.replace(SPACE, ""), MAY_FOLLOW))
    return re.compile(rf"\s|[{signs}][{after}]*[^{after}]" if signs else r"\s")


def _between(separators: np.ndarray, length: int) -> Tuple[np.ndarray, np.ndarray]:
    """First token and end of the non-empty ranges between separators, int64[n] each."""
    starts, ends = np.array([0, *(separators + 1)]), np.array([*separators, length])
    return starts[ends > starts], ends[ends > starts]


def _cut(starts: np.ndarray, ends: np.ndarray, places: np.ndarray, least: int) -> Tuple[np.ndarray, np.ndarray]:
    """Cut texts at `places`, in order, except where a part would have fewer than `least` tokens."""
    begins, cuts = starts.tolist(), []
    for text, place in zip((np.searchsorted(starts, places, "right") - 1).tolist(), places.tolist()):
        if text >= 0 and begins[text] + least <= place <= ends[text] - least:
            cuts.append(place)
            begins[text] = place
    added = np.array(cuts, "i8")
    return np.sort(np.concatenate([starts, added])), np.sort(np.concatenate([ends, added]))


def _spaces(doc: Doc) -> np.ndarray:
    """The tokens after white space, int64[n], except between Latin words or numbers."""
    codes = last_codes(doc)
    is_latin = (codes < 128) & np.char.isalnum(codes.view("U1"))
    places = np.flatnonzero(before_space(doc)[:-1])
    return places[~(is_latin[places] & is_latin[places + 1])] + 1


def _outside_words(doc: Doc, places: np.ndarray) -> np.ndarray:
    """Drop the places (tokens to cut before) that lie inside a candidate word: names may contain spaces or signs."""
    stored = get_candidates(doc)
    if stored is None or not len(places):
        return places
    begins = token_borders(doc)[0]
    borders = begins[places[places < len(begins)]]
    _, words = stored
    open_words = np.searchsorted(words.starts, borders) - np.searchsorted(np.sort(words.ends), borders, "right")
    return places[: len(borders)][open_words == 0]


def _strip(doc: Doc, starts: np.ndarray, ends: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Trim white space from both ends of texts, and drop texts of only white space."""
    words = np.flatnonzero(doc.to_array([IS_SPACE]) == 0)
    first, last = np.searchsorted(words, starts), np.searchsorted(words, ends) - 1
    kept = first <= last
    return words[first[kept]], words[last[kept]] + 1


def _count_signs(doc: Doc, inside: "Counter[str]", at_end: "Counter[str]") -> None:
    """Count the signs that end sentences inside the lines of a text and at their ends, and texts with white space
    inside a line."""
    signs, spaces, has_space = end_signs(doc), before_space(doc), False
    for start, end in zip(*_between(line_ends(doc), len(doc))):
        last = next((i for i in range(end - 1, start, -1) if not doc[i].is_space), start)
        inside.update(chr(sign) for sign in signs[start:last].tolist() if sign)
        at_end.update(chr(sign) for sign in signs[last : last + 1].tolist() if sign)
        has_space |= bool(spaces[start:last].any())
    inside[SPACE] += has_space
