"""The part of `lex_ner` that turns the probabilities of entities into scores, and drops those with too low ones."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ...tagging.spans.tag_scheme import TagSpan
from .calibration import Calibration, Threshold, check_threshold, threshold_of
from .entity_search import Prediction

Place = Tuple[int, int, str]


class EntityConfidence:
    """Knows the calibration and the thresholds, in `cfg`, with which they are saved. spaCy's `find-threshold` sets
    `cfg["threshold"]`."""

    cfg: Dict[str, Any]

    @property
    def calibration(self) -> Optional[Calibration]:
        """RETURNS (Optional[Calibration]): What makes scores of probabilities; None if they are the same."""
        stored = self.cfg.get("calibration")
        return None if stored is None else Calibration.from_json(stored)

    def set_confidence(self, calibration: Optional[Calibration], threshold: Threshold) -> None:
        """Set what makes scores of probabilities, and which scores are too low.

        calibration (Optional[Calibration]): The calibration; None for none.
        threshold (Union[float, Dict[str, float]]): Entities with a lower score are dropped. Raises ValueError where it
            is no number from 0 to 1.
        """
        self.cfg["threshold"] = check_threshold(threshold)
        self.cfg["calibration"] = None if calibration is None else calibration.to_json()

    def give_scores(self, predictions: Sequence[Prediction], forced: Sequence[Sequence[TagSpan]]) -> List[Prediction]:
        """Give entities their scores, and drop those that do not reach the threshold of their label.

        predictions (Sequence[Prediction]): The entities with the probabilities that the model gives them.
        forced (Sequence[Sequence[TagSpan]]): For each Doc the spans that rules of words decree: they stay as they are.
        RETURNS (List[Prediction]): The entities that are left, with scores.
        """
        threshold = check_threshold(self.cfg.get("threshold"))
        places = [[(entity.start, entity.end, entity.label) for entity in each.entities] for each in predictions]
        raw = [[entity.score for entity in each.entities] for each in predictions]
        scored = []
        for prediction, scores, spans in zip(predictions, self.scale(raw, places, forced), forced):
            certain = {(span.start, span.end) for span in spans}
            entities = [
                entity._replace(score=score)
                for entity, score in zip(prediction.entities, scores)
                if (entity.start, entity.end) in certain or score >= threshold_of(threshold, entity.label)
            ]
            scored.append(prediction._replace(entities=entities))
        return scored

    def scale(
        self,
        probabilities: Sequence[Sequence[float]],
        places: Sequence[Sequence[Place]],
        forced: Sequence[Sequence[TagSpan]],
    ) -> List[List[float]]:
        """Turn the probabilities of spans into scores.

        probabilities (Sequence[Sequence[float]]): Those of the spans of each Doc.
        places (Sequence[Sequence[Tuple[int, int, str]]]): Start, end and label of the spans.
        forced (Sequence[Sequence[TagSpan]]): As in `give_scores`.
        RETURNS (List[List[float]]): The scores.
        """
        calibration = self.calibration
        if calibration is None:
            return [list(own) for own in probabilities]
        scored = []
        for own, spans, decreed in zip(probabilities, places, forced):
            certain = {(span.start, span.end) for span in decreed}
            scored.append(
                [p if (start, end) in certain else calibration(p, label) for p, (start, end, label) in zip(own, spans)]
            )
        return scored
