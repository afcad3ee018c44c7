"""All measurements of one model: scores, errors, confidences and its worst texts."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set

import numpy as np
from spacy.language import Language

from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.explain import note_words
from ..pipeline.lexicon_pipe import find_lexicon
from ..visualize.lattice import Lattice, Mark, Track, read_lattice
from .bootstrap import N_SAMPLES, resample, spread
from .confidence import measure_confidence
from .counts import ALL, SEEN, UNSEEN, ColumnT, Counts, count, scores
from .errors import CORRECT, Outcome, count_confusions, count_errors
from .gold import GoldText
from .predict import Predictions, predict

GOLD, MODEL = "gold", "model"


@dataclass(frozen=True)
class Settings:
    """Settings of the measurements."""

    seen: Optional[Set[str]] = None  # the mentions in the training texts, if known
    label_map: Optional[Mapping[str, str]] = None  # labels of the models to rename
    batch_size: Optional[int] = None  # texts per batch; None for the pipeline's own
    n_samples: int = N_SAMPLES  # resampled test sets, for the spread of scores
    seed: int = 0  # of the resampling
    n_worst: int = 50  # number of texts with the most errors to show


class Measured(NamedTuple):
    """The measurements of a model."""

    figures: Dict[str, Any]  # ready for JSON, see `measure`
    samples: np.ndarray  # the scores on resampled test sets, see `bootstrap.resample`
    worst: List[Lattice]  # the texts with the most errors: gold and predicted entities, candidate words
    labels: Set[str]  # the labels of its predictions, as the model calls them


def measure(nlp: Language, gold: Sequence[GoldText], settings: Settings, *, name: str = "model") -> Measured:
    """Measure a pipeline.

    nlp (Language): Any pipeline that sets `doc.ents`. Scores are read from `ent._.lex_score`, if present.
    name (str): Title of the progress bar.
    RETURNS (Measured): In `figures`: `seconds`, `failed` (texts that could not be processed), `lexicon` (`words` and
        `version`, or None), `all`, `labels`, `seen` and `unseen` (each `found`, `wrong`, `missed`, `p`, `r`, `f` and
        `spread`), `errors`, `confusions`, `confidence`, `worst`.
    """
    options: Dict[str, Any] = {"label_map": settings.label_map, "batch_size": settings.batch_size}
    predictions = predict(nlp, [text.text for text in gold], title=f"{name}: texts", **options)
    counts = count(gold, predictions.marks, settings.seen)
    samples = resample(counts, settings.n_samples, settings.seed)
    outcomes = predictions.outcomes(gold)
    flat = list(chain.from_iterable(outcomes))
    worst = find_worst(outcomes, settings.n_worst)
    lattices = draw_worst(nlp, gold, predictions, worst)
    lexicon = find_lexicon(nlp)
    figures = {
        "seconds": predictions.seconds,
        "failed": {str(i): reason for i, reason in predictions.failed.items()},
        "lexicon": None if lexicon is None else {"words": len(lexicon), "version": f"{lexicon.version:016x}"},
        **describe_scores(counts, samples),
        "errors": count_errors(flat),
        "confusions": count_confusions(flat),
        "confidence": measure_confidence(flat),
        "worst": [describe_text(i, outcomes[i], lattice) for i, lattice in zip(worst, lattices)],
    }
    return Measured(figures, samples, lattices, predictions.labels)


def describe_scores(counts: Counts, samples: np.ndarray) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The scores of `all`, of `labels`, and of `seen` and `unseen` (None if unknown)."""

    def describe(column: ColumnT) -> Optional[Dict[str, Any]]:
        if column not in counts.columns:
            return None
        found, wrong, missed = counts.total(column)
        between = spread(samples, counts.columns.index(column))
        return {"found": found, "wrong": wrong, "missed": missed, **scores(found, wrong, missed), "spread": between}

    return {
        "all": describe(ALL),
        "labels": {label: describe(("label", label)) for label in counts.labels},
        "seen": describe(SEEN),
        "unseen": describe(UNSEEN),
    }


def find_worst(outcomes: Sequence[Sequence[Outcome]], n: int) -> List[int]:
    """RETURNS (List[int]): The numbers of the n texts with the most errors, worst first; among equals, the one with the
    most confident errors first. Texts without errors are left out."""
    ranked = []
    for i, each in enumerate(outcomes):
        errors = [outcome for outcome in each if outcome.kind != CORRECT]
        if errors:
            sure = sum(outcome.predicted.score or 0.0 for outcome in errors if outcome.predicted is not None)
            ranked.append((-len(errors), -sure, i))
    return [i for _, _, i in sorted(ranked)[:n]]


def draw_worst(
    nlp: Language, gold: Sequence[GoldText], predictions: Predictions, numbers: Sequence[int]
) -> List[Lattice]:
    """Collect gold and predicted entities of some texts, with their candidate words and the attention paid to these,
    for which the texts are processed again."""
    lexicon = find_lexicon(nlp)
    with note_words(nlp):
        docs = annotate_texts(nlp, [gold[i].text for i in numbers], failed={})
        words = {numbers[i]: read_lattice(doc, lexicon).words for i, doc in docs}
    return [
        Lattice(gold[i].text, words.get(i, []), [Track(GOLD, gold[i].marks), Track(MODEL, predictions.marks[i])])
        for i in numbers
    ]


def describe_text(number: int, outcomes: Sequence[Outcome], lattice: Lattice) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): A text with its entities, predictions, errors and candidate words, for JSON."""

    def describe(mark: Optional[Mark]) -> Optional[Dict[str, Any]]:
        if mark is None:
            return None
        text = lattice.text[mark.start : mark.end]
        return {"start": mark.start, "end": mark.end, "label": mark.label, "score": mark.score, "text": text}

    gold, predicted = ([describe(mark) for mark in track.marks] for track in lattice.tracks)
    return {
        "number": number,
        "text": lattice.text,
        "gold": gold,
        "predicted": predicted,
        "errors": [
            {"kind": kind, "gold": describe(right), "predicted": describe(found)}
            for kind, right, found in outcomes
            if kind != CORRECT
        ],
        "words": [[word.start, word.end] for word in lattice.words],
    }
