"""Doubting dictionary words: models that have not learned a word tell which of its occurrences look like entities.

A dictionary does not say how often a word names something: 客户 (customer) may be annotated in one text and in forty
others not. An incomplete one does not say either where a word is only part of a name: 公司 (company) in 长江公司. The
words are divided into folds; for each, a model learns from all other words, and judges the occurrences of those in the
fold.
"""

import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Callable, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model, minibatch
from thinc.api import Config

from ..formats.spacy_file import read_all, read_docs, write_docs
from ..integrity.json_files import read_jsonl, write_jsonl
from ..lexicon.entry import hash_word
from ..lexicon.rule_file import MAX_WORD_LENGTH
from ..pipeline.read_upto import read_upto
from ..report.predict import find_lex_ner
from ..tagging.spans.head import ScoredSpan
from ..tagging.spans.tag_scheme import TagSpan
from ..training.runs import set_values, train_once
from .label import Labeller
from .rounds import LABELLED
from .teacher import unit_spans
from .texts import Labels, draw, label_texts

VERDICTS, PARTS = "verdicts.jsonl", "parts.jsonl"
SHORTER = 2  # these models train for half of the steps
N_DEV = 1000  # most texts on which they are evaluated while they train
LEAST_WORDS = 20  # of a label; with fewer, a model that lacks some of them cannot judge these
LEAST, IMPROBABLE = 10, 0.02  # a word with so many occurrences, of this mean probability or less, is improbable
LEAST_LONGER = 0.3  # an occurrence is part of a longer entity if that is at least so probable, and the likelier reading
NEGLIGIBLE = 0.01  # longer entities that are less probable do not count


class Verdict(NamedTuple):
    """What a model thinks of a word that it has not learned."""

    word: str
    occurrences: int  # known ones, in the texts
    probability: float  # mean probability that one is an entity

    @property
    def is_improbable(self) -> bool:
        """RETURNS (bool): Whether the word is so frequent and improbable that most occurrences are no entities."""
        return self.occurrences >= LEAST and self.probability <= IMPROBABLE


class Reading(NamedTuple):
    """How a model reads an occurrence of a word that it has not learned."""

    text: int  # hash of the text
    start: int  # characters, end exclusive
    end: int
    word: str
    probability: float  # that it is an entity
    longer: float  # that it is part of a longer one
    entity: str  # the most probable longer one

    @property
    def place(self) -> Tuple[int, int, int]:
        """RETURNS (Tuple[int, int, int]): Where it is: hash of the text, start, end."""
        return self.text, self.start, self.end

    @property
    def is_part(self) -> bool:
        """RETURNS (bool): Whether it looks like part of an entity that the dictionary lacks."""
        return self.longer >= LEAST_LONGER and self.longer > self.probability


class Judgement(NamedTuple):
    """What the models think of a dictionary."""

    words: List[Verdict]  # the known words of labels with enough of them, the most improbable first
    parts: List[Reading]  # occurrences, also of held-out words, that look like parts of longer entities

    @property
    def improbable(self) -> List[Verdict]:
        """RETURNS (List[Verdict]): The improbable words."""
        return [each for each in self.words if each.is_improbable]


class WordTrial(NamedTuple):
    """The trial of a dictionary's words."""

    config: Config  # complete, except for paths.train and paths.dev
    labeller: Labeller
    texts: Path  # the texts labelled by the dictionary, a folder of .spacy files
    make_doc: Callable[[str], Doc]
    output: Path  # the folder of all models
    held: FrozenSet[str] = frozenset()  # words that nothing learns
    labelled: Sequence[Doc] = ()  # training texts of every model
    seed: int = 0
    use_gpu: int = -1

    def run(self, n_folds: int) -> Judgement:
        """Judge all words. Finished folds are kept: after an interruption, the same call continues."""
        words, parts = self.output / VERDICTS, self.output / PARTS
        if not (parts.is_file() and words.is_file() and words.stat().st_size):  # nothing to judge: no cost either
            judged = self._decide(reading for number in range(n_folds) for reading in self._judge(number, n_folds))
            write_jsonl(parts, (each._asdict() for each in judged.parts))
            write_jsonl(words, (each._asdict() for each in judged.words))
        return Judgement([Verdict(**row) for row in read_jsonl(words)], [Reading(**row) for row in read_jsonl(parts)])

    def _decide(self, readings: Iterable[Reading]) -> Judgement:
        """Judge each word by all its occurrences, and each occurrence: one of a held-out word by the mean of all
        models, since none has learned it."""
        probabilities: Dict[str, List[float]] = {}
        held: Dict[Tuple[int, int, int], List[Reading]] = {}
        parts = []
        for reading in readings:
            if reading.word in self.held:
                held.setdefault(reading.place, []).append(reading)
                continue
            probabilities.setdefault(reading.word, []).append(reading.probability)
            if reading.is_part:
                parts.append(reading)
        parts += (each for each in map(_mean, held.values()) if each.is_part)
        verdicts = (Verdict(word, len(own), fmean(own)) for word, own in sorted(probabilities.items()))
        return Judgement(sorted(verdicts, key=lambda each: each.probability), parts)

    def _judge(self, number: int, n_folds: int) -> Iterator[Reading]:
        """Train without the words of a fold, and read them and the held-out ones."""
        fold = frozenset(word for word in self._judged() if hash_word(f"fold {self.seed} {word}") % n_folds == number)
        if not fold:
            return
        folder = self.output / f"fold-{number}"
        texts = (doc.text for doc in read_all(self.texts))
        found = label_texts(
            self.labeller, texts, self.make_doc, folder / "labels", held=fold | self.held, limit=sys.maxsize
        )
        if fold.isdisjoint(self.labeller.normalization(word) for word in found.held_words()):
            return
        if self.labelled:
            write_docs(self.labelled, found.train / LABELLED)
        dev = folder / "dev.spacy"
        write_docs(draw(read_docs(found.held), N_DEV, Random(self.seed)), dev)
        nlp = load_model(train_once(self._shorter(found, dev), folder / "training", use_gpu=self.use_gpu))
        for reading in _read(nlp, read_docs(found.held)):
            yield reading._replace(word=self.labeller.normalization(reading.word))

    def _judged(self) -> Iterator[str]:
        labels = self.labeller.dictionary.labels
        n_words = Counter(label for own in labels.values() for label in own)
        return (word for word, own in labels.items() if min(n_words[label] for label in own) >= LEAST_WORDS)

    def _shorter(self, found: Labels, dev: Path) -> Config:
        training = self.config.interpolate()["training"]
        steps = -(-training["max_steps"] // SHORTER)
        values = {"paths.train": str(found.train), "paths.dev": str(dev), "training.max_steps": steps}
        if 0 < steps < training["eval_frequency"]:
            values["training.eval_frequency"] = steps
        return set_values(self.config, values)


def _read(nlp: Language, docs: Iterable[Doc]) -> Iterator[Reading]:
    """How a pipeline reads the entities of Docs with its tokens."""
    ner = find_lex_ner(nlp)
    for batch in minibatch(docs, nlp.batch_size):
        units, search = ner.search([read_upto(nlp, ner, doc.text) for doc in batch])
        spans = [unit_spans(*row, ner) for row in zip(batch, units)]
        for unit, own, scores, likely in zip(units, spans, search.span_scores(spans), search.spans_above(NEGLIGIBLE)):
            text = hash_word(unit.text)
            for span, probability in zip(own, scores.tolist()):
                longer = _longer(span, likely)
                entity = max(longer, key=lambda each: each.probability).span if longer else span
                place = unit[span.start : span.end]
                yield Reading(
                    text,
                    place.start_char,
                    place.end_char,
                    place.text,
                    probability,
                    sum(each.probability for each in longer),
                    unit[entity.start : entity.end].text if longer else "",
                )


def _longer(span: TagSpan, likely: Sequence[ScoredSpan]) -> List[ScoredSpan]:
    """The spans, of an ordered list, that contain another one and are longer. Only those that begin near it are looked
    at, so that the time does not grow with the square of a text's length."""
    low = bisect_left(likely, span.start - MAX_WORD_LENGTH, key=lambda each: each.span.start)
    high = bisect_right(likely, span.start, key=lambda each: each.span.start)
    return [each for each in likely[low:high] if each.span.end >= span.end and each.span[:2] != span[:2]]


def _mean(readings: Sequence[Reading]) -> Reading:
    """The mean of what several models think of one occurrence."""
    likeliest = max(readings, key=lambda each: each.longer)
    return likeliest._replace(
        probability=fmean(each.probability for each in readings), longer=fmean(each.longer for each in readings)
    )
