"""Doubting dictionary words: models that have not learned a word tell whether its occurrences look like entities.

A dictionary does not say how often a word names something: 客户 (customer) may be annotated in one text and in forty
others not. The words are divided into folds; for each, a model learns from all other words, and judges the occurrences
of those in the fold.
"""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Callable, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model, minibatch
from thinc.api import Config

from ..formats.spacy_file import read_all, read_docs, write_docs
from ..integrity.json_files import read_jsonl, write_jsonl
from ..lexicon.entry import hash_word
from ..pipeline.read_upto import read_upto
from ..report.predict import find_lex_ner
from ..training.runs import set_values, train_once
from .label import Labeller
from .rounds import LABELLED
from .texts import Labels, draw, label_texts

VERDICTS = "verdicts.jsonl"
SHORTER = 2  # these models train for half of the steps
N_DEV = 1000  # most texts on which they are evaluated while they train
LEAST_WORDS = 20  # of a label; with fewer, a model that lacks some of them cannot judge these
LEAST, IMPROBABLE = 10, 0.02  # a word with so many occurrences, of this mean probability or less, is improbable


class Verdict(NamedTuple):
    """What a model thinks of a word that it has not learned."""

    word: str
    occurrences: int  # known ones, in the texts
    probability: float  # mean probability that one is an entity

    @property
    def is_improbable(self) -> bool:
        """RETURNS (bool): Whether the word is so frequent and improbable that most occurrences are no entities."""
        return self.occurrences >= LEAST and self.probability <= IMPROBABLE


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

    def run(self, n_folds: int) -> List[Verdict]:
        """Judge all words. Finished folds are kept: after an interruption, the same call continues.

        RETURNS (List[Verdict]): The known words of labels with enough of them, the most improbable first.
        """
        file = self.output / VERDICTS
        if not (file.is_file() and file.stat().st_size):  # where nothing was to judge, this costs nothing again
            found = [verdict for number in range(n_folds) for verdict in self._judge(number, n_folds)]
            write_jsonl(file, (each._asdict() for each in sorted(found, key=lambda each: each.probability)))
        return [Verdict(**row) for row in read_jsonl(file)]

    def _judge(self, number: int, n_folds: int) -> Iterator[Verdict]:
        """Train without the words of a fold, and judge them."""
        fold = frozenset(word for word in self._judged() if hash_word(f"fold {self.seed} {word}") % n_folds == number)
        if not fold:
            return
        folder = self.output / f"fold-{number}"
        texts = (doc.text for doc in read_all(self.texts))
        found = label_texts(self.labeller, texts, self.make_doc, folder / "labels", held=fold | self.held)
        if fold.isdisjoint(self.labeller.normalization(word) for word in found.held_words()):
            return
        if self.labelled:
            write_docs(self.labelled, found.train / LABELLED)
        dev = folder / "dev.spacy"
        write_docs(draw(read_docs(found.held), N_DEV, Random(self.seed)), dev)
        nlp = load_model(train_once(self._shorter(found, dev), folder / "training", use_gpu=self.use_gpu))
        scores: Dict[str, List[float]] = {}
        for word, score in _occurrences(nlp, read_docs(found.held)):
            scores.setdefault(self.labeller.normalization(word), []).append(score)
        for word in sorted(fold & scores.keys()):
            yield Verdict(word, len(scores[word]), sum(scores[word]) / len(scores[word]))

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


def _occurrences(nlp: Language, docs: Iterable[Doc]) -> Iterator[Tuple[str, float]]:
    """The entities of Docs with the pipeline's tokens, and their probabilities."""
    ner = find_lex_ner(nlp)
    for batch in minibatch(docs, nlp.batch_size):
        places = [[(ent.start, ent.end, ent.label_) for ent in doc.ents] for doc in batch]
        scores = ner.score_spans([read_upto(nlp, ner, doc.text) for doc in batch], places)
        for doc, own in zip(batch, scores):
            yield from zip((ent.text for ent in doc.ents), own)
