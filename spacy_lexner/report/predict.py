"""Predictions of a pipeline for texts; texts that cannot be processed are reported and do not stop the rest."""

import time
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set

from spacy.language import Language
from tqdm import tqdm

from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.ner.lex_ner import LexNER
from ..visualize.lattice import Mark, read_marks
from .counts import annotated
from .errors import Outcome, pair
from .gold import GoldText


class Predictions(NamedTuple):
    """The predictions of a pipeline."""

    marks: List[List[Mark]]  # of each text
    seconds: float
    failed: Dict[int, str]  # the errors of texts that could not be processed, by number; these have no entities
    labels: Set[str]  # as the pipeline calls them

    def outcomes(self, gold: Sequence[GoldText]) -> List[List[Outcome]]:
        """Pair the entities of each text with the predictions."""
        return [pair(text.marks, annotated(text, marks)) for text, marks in zip(gold, self.marks)]


def predict(
    nlp: Language,
    texts: Sequence[str],
    *,
    label_map: Optional[Mapping[str, str]] = None,
    batch_size: Optional[int] = None,
    title: str = "texts",
) -> Predictions:
    """Run any pipeline that sets `doc.ents` over texts. `label_map` renames labels, such as PERSON to PER; without
    `batch_size` the pipeline's own is used; `title` is that of the progress bar. Raises ValueError if a text gets
    neither a Doc nor an error: it must not count as one without entities."""
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected at least 1.")
    found: Dict[int, List[Mark]] = {}
    failed: Dict[int, str] = {}
    renamed = label_map or {}
    labels: Set[str] = set()
    start = time.perf_counter()
    with tqdm(total=len(texts), desc=title, unit=" texts", disable=None, leave=False) as bar:
        for i, doc in annotate_texts(nlp, texts, failed, batch_size):
            marks = read_marks(doc.ents)
            labels.update(mark.label for mark in marks)
            found[i] = [mark._replace(label=renamed.get(mark.label, mark.label)) for mark in marks]
            bar.update()
    seconds = time.perf_counter() - start
    missing = [i for i in range(len(texts)) if i not in found and i not in failed]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(texts)} texts (the first has number {missing[0]}) got neither a Doc nor an error. "
            f"Correct the component that returns no Doc, one of {', '.join(nlp.pipe_names)}."
        )
    return Predictions([found.get(i, []) for i in range(len(texts))], seconds, failed, labels)


def predict_uncalibrated(nlp: Language, ner: LexNER, gold: Sequence[GoldText]) -> Predictions:
    """Run a pipeline without the calibration and thresholds of its `lex_ner`, which are restored afterwards: scores are
    the model's probabilities, and no entity is dropped for a low one. Raises ValueError if there are no predictions."""
    confidence = ner.calibration, ner.cfg["threshold"]
    ner.set_confidence(None, 0.0)
    try:
        predictions = predict(nlp, [text.text for text in gold])
    finally:
        ner.set_confidence(*confidence)
    if not any(predictions.marks):
        raise ValueError("The pipeline finds no entities in these texts, so there is nothing to learn from.")
    return predictions


def find_lex_ner(nlp: Language, name: Optional[str] = None) -> LexNER:
    """Find the `lex_ner` whose scores are calibrated. Raises ValueError if there is none, none called `name`, or
    several and no name is given."""
    found = {each: pipe for each, pipe in nlp.pipeline if isinstance(pipe, LexNER)}
    if name is not None and name not in found:
        raise ValueError(
            f"There is no lex_ner called {name!r} in the pipeline: {', '.join(nlp.pipe_names) or 'empty'}."
        )
    if name is None and len(found) != 1:
        hint = f": name one with --component ({', '.join(found)})" if found else "; no other component has scores"
        raise ValueError(f"The pipeline has {len(found)} lex_ner{hint}.")
    return found[name] if name is not None else next(iter(found.values()))
