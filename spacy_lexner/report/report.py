"""A report that compares one or more models on the same texts."""

import warnings
from contextlib import contextmanager
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from spacy.language import Language

from ..lexicon.errors import LexiconWarning
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions
from ..pipeline.lexicon_pipe import find_lexicon, find_matchers
from .bootstrap import INTERVAL, difference
from .gold import GoldText
from .measure import Measured, Settings, measure

EMPTIED, WITHOUT = "lexicon emptied", "trained without words"


class Report(NamedTuple):
    """The measurements of several models on the same texts."""

    corpus: Dict[str, Any]  # see `describe_corpus`
    settings: Settings
    models: Dict[str, Measured]  # by name

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The report for JSON; `difference` is the result of `compare`, `lexicon` that of
        `weigh_lexicon`."""
        models = {name: {**each.figures, "difference": self.compare(name)} for name, each in self.models.items()}
        samples = {"n": self.settings.n_samples, "seed": self.settings.seed, "percentiles": list(INTERVAL)}
        return {"corpus": self.corpus, "samples": samples, "models": models, "lexicon": self.weigh_lexicon()}

    def compare(self, name: str) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): How a model's F-score differs from the first model's: `f`, `spread` (the 95 %
        interval) and `above` (the share of resampled test sets in which it is higher). Empty for the first model."""
        first = next(iter(self.models))
        return {} if name == first else self._difference(name, first)

    def weigh_lexicon(self) -> Dict[str, Dict[str, Any]]:
        """RETURNS (Dict[str, Dict[str, Any]]): The contribution of the lexicon to the first model's F-score, as in
        `compare`, where measured: its `dependence`, the gain over itself with the lexicon emptied; and the `worth` of
        the words, the gain over the model trained without any."""
        first = next(iter(self.models))
        others = {"dependence": f"{first}, {EMPTIED}", "worth": f"{first}, {WITHOUT}"}
        return {kind: self._difference(first, other) for kind, other in others.items() if other in self.models}

    def _difference(self, name: str, other: str) -> Dict[str, Any]:
        a, b = self.models[name], self.models[other]
        spread, above = difference(a.samples, b.samples)
        scores = [measured.figures["all"]["f"] for measured in (a, b)]
        return {"f": None if None in scores else scores[0] - scores[1], "spread": spread, "above": above}


def make_report(
    models: Iterable[Tuple[str, Language]],
    gold: Sequence[GoldText],
    settings: Settings,
    *,
    lexicon_off: bool = False,
    without_words: Optional[Language] = None,
) -> Report:
    """Measure models on the same texts.

    models (Iterable[Tuple[str, Language]]): Names and pipelines, measured one by one.
    lexicon_off (bool): Measure every model that has a lexicon a second time, with the lexicon emptied.
    without_words (Optional[Language]): A pipeline like the first, but trained with an empty lexicon.
    RETURNS (Report): The report. Raises ValueError without texts, if two models have the same name, and if the lexicon
        of `without_words` is not empty.
    """
    if not gold:
        raise ValueError("There are no annotated texts to measure models on.")
    if without_words is not None and (words := find_lexicon(without_words)):
        raise ValueError(
            f"The model trained without words has a lexicon of {len(words)} words. Train it with an empty one."
        )
    measured: Dict[str, Measured] = {}
    for name, nlp in models:
        if name in measured:
            raise ValueError(f"Two models have the name {name!r}. Give each its own (NAME=MODEL).")
        measured[name] = measure(nlp, gold, settings, name=name)
        if lexicon_off and find_matchers(nlp):
            with without_lexicon(nlp):
                measured[f"{name}, {EMPTIED}"] = measure(nlp, gold, settings, name=f"{name}, {EMPTIED}")
        if without_words is not None:
            measured[f"{name}, {WITHOUT}"] = measure(without_words, gold, settings, name=f"{name}, {WITHOUT}")
            without_words = None  # only compared with the first
    return Report(describe_corpus(gold, settings.seen), settings, measured)


@contextmanager
def without_lexicon(nlp: Language) -> Iterator[None]:
    """Empty the lexicons of a pipeline, including rules, within a `with` block; nothing else changes."""
    before = [(pipe.source, pipe.source.matcher) for pipe in find_matchers(nlp).values()]
    try:
        for source, matcher in before:
            source.set(Matcher(Lexicon.from_entries([]), matcher.options if matcher else MatchOptions()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LexiconWarning)
            yield
    finally:
        for source, matcher in before:
            if matcher is not None:
                source.set(matcher)


def describe_corpus(gold: Sequence[GoldText], seen: Optional[Set[str]]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The size of a corpus: `texts`, `characters`, `entities`, `distinct_mentions`, `labels`,
    and, if the training texts are known, `seen` and `unseen`: the number of entities whose text is also a mention in
    them, and of the others."""
    labels: List[str] = [mark.label for text in gold for mark in text.marks]
    texts = [text.text[mark.start : mark.end] for text in gold for mark in text.marks]
    n_seen = None if seen is None else sum(text in seen for text in texts)
    return {
        "texts": len(gold),
        "characters": sum(len(text.text) for text in gold),
        "entities": len(labels),
        "distinct_mentions": len(set(texts)),
        "labels": {label: labels.count(label) for label in sorted(set(labels))},
        "seen": n_seen,
        "unseen": None if n_seen is None else len(texts) - n_seen,
    }
