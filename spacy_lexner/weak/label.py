"""Labelling the occurrences of a dictionary's words in texts as known entities, doubtful ones, or unknown words."""

from bisect import bisect_left
from typing import Any, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..lexicon.entry import Labels, LexiconEntry
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher
from ..lexicon.rule_file import MAX_WORD_LENGTH
from ..lexicon.unbreakable import is_unbreakable
from .dictionary import Dictionary

KNOWN, UNKNOWN = "known", "unknown"
SEVERAL, COMMON, OVERLAP, PART = "several labels", "common word", "overlap", "part of a longer word"
REASONS = (SEVERAL, COMMON, OVERLAP, PART)
DOUBTFUL_KEY, UNKNOWN_KEY, HELD_KEY = "weak_doubtful", "weak_unknown", "weak_held"
# First letters of jieba's parts of speech whose words are not names: verbs, adjectives, adverbs, ...
NO_NAMES = frozenset("vadpcurmqzyeof")
Place = Tuple[int, int]


class Occurrence(NamedTuple):
    """A word in a text."""

    start: int  # characters, end exclusive
    end: int
    word: str
    labels: Labels
    kind: str  # KNOWN, UNKNOWN, or the reason (one of REASONS) why it is doubtful


class Labeller:
    """Finds a dictionary's words in texts, and tells certain from doubtful occurrences."""

    def __init__(self, dictionary: Dictionary, other_words: Optional[Iterable[LexiconEntry]] = None) -> None:
        """Index the words.

        dictionary (Dictionary): Words with labels.
        other_words (Optional[Iterable[LexiconEntry]]): General words, as many as possible, with parts of speech as
            labels if known. A labelled word inside a longer one of these is doubtful, as is one that is not a noun
            among them.
        """
        self.dictionary = dictionary
        self.words = Matcher(Lexicon.from_entries(map(LexiconEntry, dictionary.labels)))
        forbidden = (LexiconEntry(word) for word in dictionary.forbidden)
        self.others = Matcher(Lexicon.from_entries([*forbidden, *(other_words or ())]))
        self._doubts = {word: self._doubt(word, labels) for word, labels in dictionary.labels.items()}

    def _doubt(self, word: str, labels: Labels) -> str:
        """The reason why all occurrences of a word are doubtful; empty if they are not."""
        if len(labels) > 1:
            return SEVERAL
        entry = self.others.lexicon.get(word)
        tags = () if entry is None else entry.labels
        is_common = bool(tags) and all(tag[:1] in NO_NAMES for tag in tags)
        return COMMON if len(word) == 1 or is_common else ""

    def label(self, texts: Sequence[str]) -> List[List[Occurrence]]:
        """RETURNS (List[List[Occurrence]]): The words of each text, in order; known ones overlap no others."""
        found, others = _places(self.words, texts), _places(self.others, texts)
        return [self._settle(*row) for row in zip(texts, found, others)]

    def _settle(self, text: str, found: List[Place], others: List[Place]) -> List[Occurrence]:
        # Longest match: an occurrence inside another labelled word is part of it.
        outer = [a for a in found if not any(_within(a, b) for b in _near(a, found))]
        settled, taken = [], np.zeros(len(text), bool)
        for place in outer:
            start, end = place
            word, taken[start:end] = text[start:end], True
            kind = self._doubts[word] or KNOWN
            if any(other != place for other in _near(place, outer)):
                kind = OVERLAP
            elif any(_within(place, other) for other in _near(place, others)):
                kind = PART
            settled.append(Occurrence(start, end, word, self.dictionary.labels[word], kind))
        for start, end in sorted(others, key=lambda place: place[0] - place[1]):
            if end - start > 1 and not taken[start:end].any():
                taken[start:end] = True
                settled.append(Occurrence(start, end, text[start:end], (), UNKNOWN))
        return sorted(settled)


def _within(place: Place, other: Place) -> bool:
    """Whether a place lies within another one."""
    return other != place and other[0] <= place[0] and place[1] <= other[1]


def _near(place: Place, places: List[Place]) -> List[Place]:
    """The places, of an ordered list, that share characters with a place."""
    low, high = bisect_left(places, (place[0] - MAX_WORD_LENGTH, 0)), bisect_left(places, (place[1], 0))
    return [other for other in places[low:high] if other[1] > place[0]]


def _places(matcher: Matcher, texts: Sequence[str]) -> List[List[Place]]:
    """The places of words in each text, in order, without those that cut a Latin word."""
    found, borders = matcher.match(texts)
    places = []
    for text, low, high in zip(texts, borders.tolist(), borders[1:].tolist()):
        own = np.stack([found.starts[low:high], found.ends[low:high]]).astype("i8")
        whole = ~is_unbreakable(text, own).any(0) if high > low else np.ones(0, bool)
        places.append([(start, end) for start, end in own.T[whole].tolist()])
    return places


def annotate(doc: Doc, occurrences: Iterable[Occurrence], held: FrozenSet[str] = frozenset()) -> Doc:
    """Annotate a Doc partly: known words are entities, and all other tokens have missing annotation. Doubtful and
    unknown words go to the span groups `weak_doubtful` and `weak_unknown`, known words in `held` to `weak_held`.

    RETURNS (Doc): The same Doc.
    """
    groups: Dict[str, Any] = {KNOWN: [], DOUBTFUL_KEY: [], UNKNOWN_KEY: [], HELD_KEY: []}
    for each in occurrences:
        key = KNOWN if each.kind == KNOWN else UNKNOWN_KEY if each.kind == UNKNOWN else DOUBTFUL_KEY
        label = each.kind if key == DOUBTFUL_KEY else each.labels[0] if each.labels else ""
        span = doc.char_span(each.start, each.end, label=label)
        if span is not None:
            groups[HELD_KEY if key == KNOWN and each.word in held else key].append(span)
    doc.set_ents(groups.pop(KNOWN), default="missing")
    for key, spans in groups.items():
        doc.spans[key] = spans
    return doc
