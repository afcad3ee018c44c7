"""The part of `lex_ner` that turns the probabilities of entities into scores, and drops those with too low ones."""

from typing import Any, Dict, List, Optional, Sequence

from ..layers.tag_scheme import TagSpan
from .calibration import Calibration, Threshold, check_threshold, threshold_of
from .entity_search import Entity, Prediction


class EntityConfidence:
    """Knows the calibration and the thresholds, in `cfg`, with which they are saved. spaCy's `find-threshold` sets
    `cfg["threshold"]`."""

    cfg: Dict[str, Any]

    @property
    def calibration(self) -> Optional[Calibration]:
        """RETURNS (Optional[Calibration]): What makes scores of the probabilities of entities; None if they are these."""
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
        calibration, threshold = self.calibration, check_threshold(self.cfg.get("threshold"))
        scored = []
        for prediction, spans in zip(predictions, forced):
            certain = {(span.start, span.end) for span in spans}
            entities: List[Entity] = []
            for entity in prediction.entities:
                if (entity.start, entity.end) not in certain:
                    if calibration is not None:
                        entity = entity._replace(score=calibration(entity.score, entity.label))
                    if entity.score < threshold_of(threshold, entity.label):
                        continue
                entities.append(entity)
            scored.append(prediction._replace(entities=entities))
        return scored
