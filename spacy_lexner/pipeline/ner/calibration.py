"""Scores of entities: span probabilities, calibrated to how often such entities are right, and thresholds on them."""

import math
from typing import Any, Container, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from ...lexicon.limits import quote
from ..settings import Setting, is_number
from .entity_search import Entity

Threshold = Union[float, Dict[str, float]]
CLOSEST = 1e-7  # probabilities are clipped to this distance from 0 and 1


class Scale(NamedTuple):
    """A monotone map of probabilities: logit / temperature (Guo et al. 2017) + bias (Platt 1999), as a probability
    again."""

    temperature: float = 1.0  # > 0; above 1 it makes scores less confident
    bias: float = 0.0  # above 0 it raises scores

    def __call__(self, probability: float) -> float:
        """The score, between 0 and 1."""
        return (1 + math.tanh((logit(probability) / self.temperature + self.bias) / 2)) / 2  # the logistic function


class Calibration(NamedTuple):
    """Maps the probability of a span to the score of an entity."""

    shared: Scale  # for labels with too few examples for a scale of their own
    labels: Mapping[str, Scale]  # for the other labels

    def __call__(self, probability: float, label: str) -> float:
        """The score of an entity."""
        return self.labels.get(label, self.shared)(probability)

    def to_json(self) -> Dict[str, Any]:
        """Plain JSON, for `from_json`."""
        labels = {label: scale._asdict() for label, scale in self.labels.items()}
        return {"shared": self.shared._asdict(), "labels": labels}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Calibration":
        """Read a calibration written by `to_json`. Raises ValueError for anything else."""
        try:
            scales = {label: Scale(**scale) for label, scale in values["labels"].items()}
            shared = Scale(**values["shared"])
            good = all(scale.temperature > 0 and math.isfinite(sum(scale)) for scale in (shared, *scales.values()))
        except (AttributeError, KeyError, OverflowError, TypeError) as error:
            raise ValueError(f"{quote(values)} is not a calibration ({type(error).__name__}: {error}).") from error
        if not good:
            raise ValueError(f"{quote(values)} is not a calibration: temperatures must be above 0, all numbers finite.")
        return cls(shared, scales)


def logit(probability: float) -> float:
    """The log odds of a probability, clipped so that they are finite."""
    probability = min(max(probability, CLOSEST), 1 - CLOSEST)
    return math.log(probability) - math.log1p(-probability)


def check_threshold(threshold: Optional[Threshold]) -> Threshold:
    """Return the threshold, a number or one per label; 0 for None. Raises ValueError for a value outside 0 to 1."""
    threshold = 0.0 if threshold is None else threshold
    if not THRESHOLD.is_valid(threshold):
        raise ValueError(f"threshold = {quote(threshold)}: expected {THRESHOLD.expected}.")
    return threshold


def _is_threshold(value: Any) -> bool:
    values = value.values() if isinstance(value, dict) else [value]
    return value is None or all(is_number(one, 0, 1) for one in values)


def _is_calibration(value: Any) -> bool:
    try:
        return value is None or bool(Calibration.from_json(value))
    except ValueError:
        return False


THRESHOLD = Setting(_is_threshold, "a number from 0 to 1, or one for each label")
CALIBRATION = Setting(_is_calibration, "null, or finite numbers as `spacy lexner calibrate` writes them")


class Confidence(NamedTuple):
    """Turns the probabilities of entities into scores, and drops entities whose score is too low. Spans forced by rules
    are certain: they keep their probability and are never dropped."""

    calibration: Optional[Calibration]  # None: scores are the probabilities
    threshold: Threshold  # the lowest score of an entity

    @classmethod
    def from_cfg(cls, cfg: Mapping[str, Any]) -> "Confidence":
        """Read it from a component's `cfg`, where it is saved and where spaCy's `find-threshold` sets the threshold."""
        stored = cfg.get("calibration")
        return cls(None if stored is None else Calibration.from_json(stored), check_threshold(cfg.get("threshold")))

    def score(self, entity: Entity, forced: Container[Tuple[int, int]] = ()) -> float:
        """The score of an entity. `forced` has (start, end) of the spans forced by rules."""
        if self.calibration is None or (entity.start, entity.end) in forced:
            return entity.score
        return self.calibration(entity.score, entity.label)

    def apply(self, entities: Iterable[Entity], forced: Container[Tuple[int, int]]) -> List[Entity]:
        """The entities that reach the threshold, with their scores."""
        scored = [entity._replace(score=self.score(entity, forced)) for entity in entities]
        return [ent for ent in scored if (ent.start, ent.end) in forced or ent.score >= self.least(ent.label)]

    def least(self, label: str) -> float:
        """The lowest score of an entity with this label."""
        return self.threshold.get(label, 0.0) if isinstance(self.threshold, dict) else self.threshold
