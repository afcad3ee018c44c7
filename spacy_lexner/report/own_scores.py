"""What `lex_ner` finds in annotated texts, with the probabilities that the model itself gives."""

from typing import List, NamedTuple, Optional, Sequence

from spacy.language import Language

from ..pipeline.ner.lex_ner import LexNER
from .counts import annotated
from .errors import Outcome, pair
from .gold import GoldText
from .predict import predict


class OwnScores(NamedTuple):
    """What becomes of the entities of texts, and where predictions come from.

    texts (List[List[Outcome]]): The outcomes of each text. Scores are probabilities, without calibration; nothing is
        dropped for a low one.
    failed (List[str]): Why texts could not be processed, each reason once.
    """

    texts: List[List[Outcome]]
    failed: List[str]


def find_own_scores(nlp: Language, ner: LexNER, gold: Sequence[GoldText]) -> OwnScores:
    """Run a pipeline without its calibration and thresholds.

    nlp (Language): The pipeline.
    ner (LexNER): Its component. It has its calibration and thresholds again afterwards.
    gold (Sequence[GoldText]): The annotated texts.
    RETURNS (OwnScores): What it finds. Raises ValueError where nothing is found.
    """
    confidence = ner.calibration, ner.cfg["threshold"]
    ner.set_confidence(None, 0.0)
    try:
        predictions = predict(nlp, [text.text for text in gold])
    finally:
        ner.set_confidence(*confidence)
    texts = [pair(text.marks, annotated(text, marks)) for text, marks in zip(gold, predictions.marks)]
    if not any(outcome.predicted is not None for outcomes in texts for outcome in outcomes):
        raise ValueError("The pipeline finds no entity in these texts: there is nothing to learn from.")
    return OwnScores(texts, sorted(set(predictions.failed.values())))


def find_lex_ner(nlp: Language, name: Optional[str] = None) -> LexNER:
    """Find the component whose scores are calibrated.

    nlp (Language): The pipeline.
    name (Optional[str]): Its name, if there are several.
    RETURNS (LexNER): The component. Raises ValueError where there is none, or several and no name.
    """
    found = {each: pipe for each, pipe in nlp.pipeline if isinstance(pipe, LexNER)}
    if name is not None and name not in found:
        raise ValueError(
            f"There is no lex_ner called {name!r} in the pipeline: {', '.join(nlp.pipe_names) or 'empty'}."
        )
    if name is None and len(found) != 1:
        hint = f": name one with --component ({', '.join(found)})" if found else "; no other component has scores"
        raise ValueError(f"The pipeline has {len(found)} lex_ner{hint}.")
    return found[name] if name is not None else next(iter(found.values()))
