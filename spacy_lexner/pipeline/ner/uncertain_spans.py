"""Spans that a model is in doubt about."""

from typing import NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc, Span, SpanGroup

SPANS_KEY = "lex_uncertain"


class Doubt(NamedTuple):
    """Between which probabilities a span is uncertain, the bounds included."""

    low: float
    high: float


def check_doubt(bounds: Optional[Sequence[float]]) -> Optional[Doubt]:
    """RETURNS (Optional[Doubt]): The bounds that a config gives. Raises ValueError for what makes no sense."""
    if bounds is None:
        return None
    if len(bounds) != 2 or not 0 < bounds[0] <= bounds[1] <= 1:
        raise ValueError(
            f"uncertain is {list(bounds)}; expected two probabilities, the lower one above 0, such as [0.1, 0.9], or "
            "null."
        )
    return Doubt(*bounds)


def set_uncertain(doc: Doc, spans: Sequence[Tuple[int, int, str, float]]) -> None:
    """Write spans to `doc.spans["lex_uncertain"]`, their probabilities in its `attrs["scores"]`.

    doc (Doc): The Doc.
    spans (Sequence[Tuple[int, int, str, float]]): First token, end (exclusive), label and probability of each.
    """
    made = [Span(doc, start, end, label=label) for start, end, label, _ in spans]
    scores = [score for *_, score in spans]
    doc.spans[SPANS_KEY] = SpanGroup(doc, name=SPANS_KEY, attrs={"scores": scores}, spans=made)
