"""Labelling the occurrences of a dictionary's words in texts as known entities, doubtful ones, or unknown words."""

import re
from bisect import bisect_left
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
from spacy.tokens import Doc, Span

from ..lexicon.entry import Labels, LexiconEntry, hash_word
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher
from ..lexicon.rule_file import MAX_WORD_LENGTH
from ..lexicon.unbreakable import is_unbreakable
from ..pipeline.ner.gold_entities import ONE_OF_KEY, POSSIBLE_KEY
from .dictionary import Dictionary

KNOWN, UNKNOWN = "known", "unknown"
SEVERAL, COMMON, OVERLAP, PART = "several labels", "common word", "overlap", "part of a longer word"
IMPROBABLE, INSIDE = "improbable", "part of a longer entity"
REASONS = (SEVERAL, COMMON, OVERLAP, PART, IMPROBABLE, INSIDE)
DOUBTFUL_KEY, UNKNOWN_KEY, HELD_KEY = "weak_doubtful", "weak_unknown", "weak_held"
GROUPS = (DOUBTFUL_KEY, UNKNOWN_KEY, HELD_KEY, ONE_OF_KEY, POSSIBLE_KEY)
# Jieba's parts of speech whose words are not names: verbs, adjectives, adverbs, pronouns, numbers, ...
NO_NAME = re.compile("v[dginq]?|a[dgn]?|d[fg]?|p|c|u[dgjlvz]?|r[grz]?|m[gq]?|qg?|zg?|yg?|e|o|f")
Place = Tuple[int, int]


class Occurrence(NamedTuple):
    """A word in a text."""

    start: int  # characters, end exclusive
    end: int
    word: str  # normalised as the dictionary's words are
    labels: Labels
    kind: str  # KNOWN, UNKNOWN, or the reason (one of REASONS) why it is doubtful


class Labeller:
    """Finds a dictionary's words in texts, and tells certain from doubtful occurrences."""

    def __init__(self, dictionary: Dictionary, other_words: Optional[Iterable[LexiconEntry]] = None) -> None:
        """Index the words.

        dictionary (Dictionary): Words with labels.
        other_words (Optional[Iterable[LexiconEntry]]): General words, as many as possible, with jieba's parts of speech
            as labels if known. A labelled word inside a longer one of these is doubtful, as is one that is not a noun
            among them. They are normalised as the dictionary's words are.
        """
        self.dictionary = dictionary
        self.normalization = dictionary.normalization
        self.words = self._index(map(LexiconEntry, dictionary.labels))
        self.others = self._index([*map(LexiconEntry, dictionary.forbidden), *(other_words or ())])
        names = frozenset(dictionary.label_names)
        self._doubts = {word: self._doubt(word, labels, names) for word, labels in dictionary.labels.items()}
        self._inside: Dict[int, Set[Place]] = {}  # by hash of the text

    def _index(self, entries: Iterable[LexiconEntry]) -> Matcher:
        return Matcher(Lexicon.from_entries(entries, normalization=self.normalization))

    def _doubt(self, word: str, labels: Labels, names: FrozenSet[str]) -> str:
        """The reason why all occurrences of a word are doubtful; empty if they are not. `names` are all labels of the
        dictionary, which are never parts of speech."""
        entry = self.others.lexicon.get(word)
        tags = () if entry is None else entry.labels
        if len(word) == 1 or (tags and all(tag not in names and NO_NAME.fullmatch(tag) for tag in tags)):
            return COMMON
        return SEVERAL if len(labels) > 1 else ""

    def doubt(self, words: Iterable[str]) -> None:
        """From now on, take all occurrences of these words for improbable ones."""
        self._doubts.update(dict.fromkeys(words, IMPROBABLE))

    def doubt_places(self, places: Iterable[Tuple[int, int, int]]) -> None:
        """From now on, take the known words at these places (hash of the text, start, end) for parts of longer
        entities."""
        for text, start, end in places:
            self._inside.setdefault(text, set()).add((start, end))

    def label(self, texts: Sequence[str]) -> List[List[Occurrence]]:
        """RETURNS (List[List[Occurrence]]): The words of each text, in order; known ones overlap no others."""
        found, others = _places(self.words, texts), _places(self.others, texts)
        normal = [self.normalization(text) for text in texts]
        inside = [self._inside.get(hash_word(text), set()) if self._inside else set() for text in texts]
        return [self._settle(*row) for row in zip(normal, found, others, inside)]

    def _settle(self, text: str, found: List[Place], others: List[Place], inside: Set[Place]) -> List[Occurrence]:
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
            elif kind == KNOWN and place in inside:
                kind = INSIDE
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


def annotate(
    doc: Doc, occurrences: Iterable[Occurrence], held: FrozenSet[str] = frozenset(), labels: Sequence[str] = ()
) -> Doc:
    """Annotate a Doc partly: known words are entities, and all other tokens have missing annotation. Words with several
    labels are entities with one of them (`lex_one_of`); words that overlap others or are part of longer ones are
    entities or not (`lex_possible`), and so are known words in `held`, with any of `labels`. Common and improbable
    words, and parts of longer entities, count as any other text. All doubtful words are also in the span group
    `weak_doubtful`, unknown ones in `weak_unknown`, known ones in `held` in `weak_held`.

    RETURNS (Doc): The same Doc.
    """
    groups: Dict[str, List[Span]] = {key: [] for key in (KNOWN, *GROUPS)}
    for each in occurrences:
        span = doc.char_span(each.start, each.end, label=each.labels[0] if each.labels else "")
        if span is None:
            continue
        if each.kind == UNKNOWN:
            groups[UNKNOWN_KEY].append(span)
        elif each.kind == KNOWN and each.word in held:
            groups[HELD_KEY].append(span)
            groups[POSSIBLE_KEY].extend(_relabel(span, labels))
        elif each.kind == KNOWN:
            groups[KNOWN].append(span)
        else:
            groups[DOUBTFUL_KEY].extend(_relabel(span, [each.kind]))
            if each.kind not in (COMMON, IMPROBABLE, INSIDE):
                groups[ONE_OF_KEY if each.kind == SEVERAL else POSSIBLE_KEY].extend(_relabel(span, each.labels))
    doc.set_ents(groups.pop(KNOWN), default="missing")
    for key, spans in groups.items():
        if spans:  # reading a saved group, even an empty one, takes longer than reading a Doc
            doc.spans[key] = spans
    return doc


def _relabel(span: Span, labels: Sequence[str]) -> List[Span]:
    """A span once with each label."""
    return [Span(span.doc, span.start, span.end, label=label) for label in labels]
