"""A report on one model or several, side by side."""

from contextlib import contextmanager
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from spacy.language import Language

from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions
from ..pipeline.lexicon_pipe import find_matchers
from .bootstrap import INTERVAL, difference
from .gold import GoldText
from .measure import Measured, Settings, measure

EMPTIED = "lexicon emptied"


class Report(NamedTuple):
    """The measurements of several models on the same texts."""

    corpus: Dict[str, Any]  # see `describe_corpus`
    settings: Settings
    models: Dict[str, Measured]  # by name

    def to_json(self) -> Dict[str, Any]:
        """Everything, for JSON; `difference` is the result of `compare`."""
        models = {name: {**each.figures, "difference": self.compare(name)} for name, each in self.models.items()}
        samples = {"n": self.settings.n_samples, "seed": self.settings.seed, "percentiles": list(INTERVAL)}
        return {"corpus": self.corpus, "samples": samples, "models": models}

    def compare(self, name: str) -> Dict[str, Any]:
        """How a model's F-score differs from the first model's: `f`, `spread` (the 95 % interval) and `above` (the
        share of resampled test sets in which it is higher). Empty for the first model."""
        first = next(iter(self.models))
        if name == first:
            return {}
        a, b = self.models[name], self.models[first]
        spread, above = difference(a.samples, b.samples)
        scores = [measured.figures["all"]["f"] for measured in (a, b)]
        return {"f": None if None in scores else scores[0] - scores[1], "spread": spread, "above": above}


def make_report(
    models: Iterable[Tuple[str, Language]], gold: Sequence[GoldText], settings: Settings, *, lexicon_off: bool = False
) -> Report:
    """Measure models on the same texts.

    models (Iterable[Tuple[str, Language]]): Names and pipelines, measured one after the other.
    lexicon_off (bool): Measure every model that has a lexicon a second time, with the lexicon emptied.
    RETURNS (Report): The report. Raises ValueError without texts, and if two models have the same name.
    """
    if not gold:
        raise ValueError("There are no annotated texts to measure models on.")
    measured: Dict[str, Measured] = {}
    for name, nlp in models:
        if name in measured:
            raise ValueError(f"Two models have the name {name!r}. Give each one of its own (NAME=MODEL).")
        measured[name] = measure(nlp, gold, settings, name=name)
        if lexicon_off and find_matchers(nlp):
            with without_lexicon(nlp):
                measured[f"{name}, {EMPTIED}"] = measure(nlp, gold, settings, name=f"{name}, {EMPTIED}")
    return Report(describe_corpus(gold, settings.seen), settings, measured)


@contextmanager
def without_lexicon(nlp: Language) -> Iterator[None]:
    """Empty the lexicons of a pipeline, rules of words included, within a `with` block; nothing else changes."""
    before = [(pipe.source, pipe.source.matcher) for pipe in find_matchers(nlp).values()]
    try:
        for source, matcher in before:
            source.set(Matcher(Lexicon.from_entries([]), matcher.options if matcher else MatchOptions()))
        yield
    finally:
        for source, matcher in before:
            if matcher is not None:
                source.set(matcher)


def describe_corpus(gold: Sequence[GoldText], seen: Optional[Set[str]]) -> Dict[str, Any]:
    """The size of a corpus: `texts`, `characters`, `entities`, `distinct_mentions`, `labels`, and, if the training
    texts are known, `seen` and `unseen`: the entities whose text is also a mention in training, and the others."""
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
