"""What the score of an entity is made of: the probability of its span, scaled so that it says how often such entities
are right; and the thresholds that scores have to reach."""

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Union

Threshold = Union[float, Dict[str, float]]
# A probability that the number format cannot tell from 0 or 1 counts as this close to it.
CLOSEST = 1e-7


class Scale(NamedTuple):
    """A monotone map of probabilities: the logit is divided by a temperature (Guo et al. 2017), and a bias is added
    (Platt 1999).

    temperature (float): Above 0; above 1 it makes scores less sure.
    bias (float): Above 0 it makes scores higher.
    """

    temperature: float = 1.0
    bias: float = 0.0

    def __call__(self, probability: float) -> float:
        """RETURNS (float): The score, between 0 and 1."""
        return (1 + math.tanh((logit(probability) / self.temperature + self.bias) / 2)) / 2  # the logistic function


class Calibration(NamedTuple):
    """How the probability that the model gives to a span becomes the score of an entity, by label.

    shared (Scale): For labels without a scale of their own, which had too few examples.
    labels (Mapping[str, Scale]): The others.
    """

    shared: Scale
    labels: Mapping[str, Scale]

    def __call__(self, probability: float, label: str) -> float:
        """RETURNS (float): The score of an entity."""
        return self.labels.get(label, self.shared)(probability)

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): Plain JSON, for `from_json`."""
        labels = {label: scale._asdict() for label, scale in self.labels.items()}
        return {"shared": self.shared._asdict(), "labels": labels}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Calibration":
        """RETURNS (Calibration): What `to_json` described. Raises ValueError where it is none."""
        try:
            scales = {label: Scale(**scale) for label, scale in values["labels"].items()}
            shared = Scale(**values["shared"])
            good = all(scale.temperature > 0 and math.isfinite(sum(scale)) for scale in (shared, *scales.values()))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{values!r} is no calibration ({type(error).__name__}: {error}).") from error
        if not good:
            raise ValueError(f"{values!r} is no calibration: temperatures must be above 0, and all numbers finite.")
        return cls(shared, scales)


def logit(probability: float) -> float:
    """RETURNS (float): The logarithm of the odds, finite."""
    probability = min(max(probability, CLOSEST), 1 - CLOSEST)
    return math.log(probability) - math.log1p(-probability)


def check_threshold(threshold: Optional[Threshold]) -> Threshold:
    """Check thresholds of scores.

    threshold (Optional[Union[float, Dict[str, float]]]): One for all labels, or one for each; others have 0.
    RETURNS (Union[float, Dict[str, float]]): The same. Raises ValueError where one is no number from 0 to 1.
    """
    threshold = 0.0 if threshold is None else threshold
    values: List[Any] = list(threshold.values()) if isinstance(threshold, dict) else [threshold]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ValueError(f"threshold = {threshold!r}: expected a number from 0 to 1, or one for each label.")
    return threshold


def threshold_of(threshold: Threshold, label: str) -> float:
    """RETURNS (float): The score that an entity of a label has to reach."""
    return threshold.get(label, 0.0) if isinstance(threshold, dict) else threshold
