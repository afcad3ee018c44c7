"""Lexicon words that are never cut: their occurrences in a Doc, and which of these become words."""

from typing import Dict, List, NamedTuple, Tuple

import numpy as np
from spacy.tokens import Doc

from ..layers.candidates import token_borders
from ..layers.lexicon_link import LexiconLink
from ..layers.lexicon_node import LexiconCandidates
from ..layers.tag_scheme import Ints1d
from ..layers.word_borders import BORDER, JOINED, Borders
from ..lexicon.lexicon import Lexicon

FORCE = "force"


class Chosen(NamedTuple):
    """Which occurrences of forced words become words.

    spans (List[Tuple[int, int]]): First token, and token behind the last one. They do not overlap.
    refused (int): The number of occurrences that cannot, because a word has to begin inside of them.
    """

    spans: List[Tuple[int, int]]
    refused: int


class ForcedWords:
    """Finds the words of the linked lexicon that have the label FORCE.

    link (LexiconLink): Where a `lex_matcher` leaves its lexicon.
    """

    def __init__(self) -> None:
        self._candidates = LexiconCandidates()
        self.link: LexiconLink = self._candidates.attrs["link"]
        self._version = 0
        self._known: Dict[int, bool] = {}  # whether a word is forced, by its hash, in the lexicon of that version

    def find(self, doc: Doc) -> List[Tuple[int, int]]:
        """Find all occurrences, overlapping ones too.

        doc (Doc): The Doc.
        RETURNS (List[Tuple[int, int]]): First token, and token behind the last one, ordered by start, then length.
            Raises ValueError where no lexicon is linked.
        """
        [candidates] = self._candidates.predict([doc])
        distinct, where, inverse = np.unique(candidates.hashes, return_index=True, return_inverse=True)
        begins, stops = token_borders(doc)
        edges = zip(begins[candidates.first[where]].tolist(), stops[candidates.last[where]].tolist())
        words = [doc.text[begin:stop] for begin, stop in edges] if len(distinct) else []
        forced = self._look_up(candidates.lexicon, distinct.tolist(), words)[inverse]
        return list(zip(candidates.first[forced].tolist(), (candidates.last[forced] + 1).tolist()))

    def _look_up(self, lexicon: Lexicon, hashes: List[int], words: List[str]) -> np.ndarray:
        if lexicon.version != self._version:
            self._version, self._known = lexicon.version, {}
        known = self._known
        for word_hash, word in zip(hashes, words):
            if word_hash not in known:
                entry = lexicon.get(word)
                known[word_hash] = entry is not None and entry.label == FORCE
        return np.array([known[word_hash] for word_hash in hashes], dtype=bool)


def choose_words(spans: List[Tuple[int, int]], rules: Borders, edges: Ints1d) -> Chosen:
    """Choose occurrences that do not overlap, from left to right the longest. None begins or ends inside a run that is
    never cut (AI in PAID): that is no occurrence.

    spans (List[Tuple[int, int]]): Occurrences.
    rules (Borders): What is known of borders.
    edges (Ints1d): Tokens at which a word has to begin. They win over forced words.
    RETURNS (Chosen): The occurrences that become words.
    """
    fixed = np.union1d(np.flatnonzero(rules == BORDER), edges)
    first, behind = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    whole = (rules[first] != JOINED) & (rules[behind] != JOINED)
    cut = np.searchsorted(fixed, first, "right") < np.searchsorted(fixed, behind, "left")
    chosen: List[Tuple[int, int]] = []
    end = 0
    for i in np.lexsort((-behind, first)).tolist():
        if whole[i] and not cut[i] and first[i] >= end:
            end = int(behind[i])
            chosen.append((int(first[i]), end))
    return Chosen(chosen, int((whole & cut).sum()))


def force_words(borders: Borders, spans: List[Tuple[int, int]]) -> Borders:
    """RETURNS (Borders): The borders, with these spans as words."""
    borders = borders.copy()
    for first, behind in spans:
        borders[first + 1 : behind] = JOINED
        borders[[first, behind]] = BORDER
    return borders
