"""Differences between two dictionaries: the entities that change, the responsible words, and their probabilities."""

from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from spacy.language import Language
from spacy.util import minibatch

from ..lexicon.entry import LexiconEntry
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher
from ..lexicon.rules import normal_rules
from ..pipeline.exact_offsets import get_offsets
from ..pipeline.lexicon_pipe import LexiconPipe, find_matchers
from ..pipeline.ner.lex_ner import LexNER
from ..pipeline.ner.place_scores import score_places

Place = Tuple[int, int, str]  # characters, end exclusive, and label


class Change(NamedTuple):
    """An entity that is found with only one of the dictionaries."""

    number: int  # of the text, from 0
    text: str
    start: int  # characters
    end: int  # exclusive
    label: str
    added: bool  # whether it is found with the new dictionary only
    before: float  # the score of this span with the old dictionary
    after: float  # with the new one
    words: Tuple[str, ...]  # those that undo the change if reverted alone; if there are none, all that may matter


class Dictionaries:
    """A pipeline with an old dictionary, and the same with a new one."""

    def __init__(self, before: Language, after: Language, words: Iterable[str]) -> None:
        """Compare two copies of a pipeline.

        before (Language): With the old dictionary.
        after (Language): With the new one.
        words (Iterable[str]): The words that may differ. Raises ValueError if the pipeline lacks a required component.
        """
        self.before, self.after = before, after
        self.matchers = last_matcher(before), last_matcher(after)
        old, new = (matcher.lexicon for matcher in self.matchers)
        self.entries: Dict[str, Optional[LexiconEntry]] = {}  # the old entries of words that differ; None: a new word
        for word in sorted(set(words)):
            entries = old.get(word), new.get(word)
            if _state(entries[0]) != _state(entries[1]):
                self.entries[new.normalization.word(word)] = entries[0]
        differing = Lexicon.from_entries(map(LexiconEntry, self.entries), normalization=new.normalization)
        self._finder = Matcher(differing)

    def find_changes(self, texts: Iterable[str]) -> Iterator[Change]:
        """YIELDS (Change): The changes in texts, text by text. Raises ValueError for rules that allow no reading."""
        first = 0
        for batch in minibatch(texts, self.before.batch_size):
            yield from self._in_batch(batch, first)
            first += len(batch)

    def _in_batch(self, texts: Sequence[str], first: int) -> Iterator[Change]:
        words = self._words_in(texts)
        touched = [i for i, own in enumerate(words) if own]
        old, new = (find_entities(nlp, [texts[i] for i in touched]) for nlp in (self.before, self.after))
        changed = {i: (a, b) for i, a, b in zip(touched, old, new) if a != b}
        without = self._without_words({i: words[i] for i in changed}, texts)
        for i, (before, after) in changed.items():
            places = sorted(before ^ after)
            scores = [score_places(nlp, find_ner(nlp), texts[i], places) for nlp in (self.before, self.after)]
            for place, old_score, new_score in zip(places, scores[0], scores[1]):
                added = place in after
                causes = [word for word in words[i] if (place in without[i, word]) is not added]
                yield Change(first + i, texts[i], *place, added, old_score, new_score, tuple(causes or words[i]))

    def _words_in(self, texts: Sequence[str]) -> List[List[str]]:
        """RETURNS (List[List[str]]): For each text the words in it that differ."""
        found, borders = self._finder.match(texts)
        words: List[Set[str]] = [set() for _ in texts]
        for i, (low, high) in enumerate(zip(borders.tolist(), borders[1:].tolist())):
            for start, end in zip(found.starts[low:high].tolist(), found.ends[low:high].tolist()):
                words[i].add(self._finder.lexicon.normalization.word(texts[i][start:end]))
        return [sorted(own) for own in words]

    def _without_words(self, words: Dict[int, List[str]], texts: Sequence[str]) -> Dict[Tuple[int, str], Set[Place]]:
        """RETURNS (Dict[Tuple[int, str], Set[Place]]): By text number and word, the entities in the text with the new
        dictionary but the old entry of the word."""
        matcher = self.matchers[1]
        present = matcher.replace_words([])
        found: Dict[Tuple[int, str], Set[Place]] = {}
        try:
            for word in sorted({word for own in words.values() for word in own}):
                entry = self.entries[word]
                reverted = matcher.replace_words([] if entry is None else [entry], [word])
                matcher.use_words(reverted)
                own = [i for i in words if word in words[i]]
                found.update(zip([(i, word) for i in own], find_entities(self.after, [texts[i] for i in own])))
                matcher.use_words(present)
        finally:
            matcher.use_words(present)
        return found


def last_matcher(nlp: Language) -> LexiconPipe:
    """RETURNS (LexiconPipe): The component that owns the dictionary. Raises ValueError if there is none."""
    matchers = list(find_matchers(nlp).values())
    if not matchers:
        raise ValueError(f"The pipeline has no lex_matcher, only {', '.join(nlp.pipe_names) or 'nothing'}.")
    return matchers[-1]


def find_ner(nlp: Language) -> LexNER:
    """RETURNS (LexNER): The last `lex_ner`. Raises ValueError if there is none."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LexNER)]
    if not pipes:
        raise ValueError(f"The pipeline has no lex_ner, only {', '.join(nlp.pipe_names) or 'nothing'}.")
    return pipes[-1]


def find_entities(nlp: Language, texts: Sequence[str]) -> List[Set[Place]]:
    """RETURNS (List[Set[Place]]): The entities of texts, by exact characters."""
    return [{(*get_offsets(ent), ent.label_) for ent in doc.ents} for doc in nlp.pipe(texts)]


def _state(entry: Optional[LexiconEntry]) -> Optional[Tuple[object, ...]]:
    return None if entry is None else (normal_rules(entry.rules), entry.labels, entry.weight)
