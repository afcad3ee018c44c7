"""What else the entities of a Doc may be: the most probable paths, and the spans that the model is unsure of."""

from typing import Any, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc

USER_DATA_KEY: Any = ("._.", "lex_alternatives", None, None)


class ReadEntity(NamedTuple):
    """An entity of an alternative: its characters, which stay the same when tokens are merged, its label and text."""

    start_char: int
    end_char: int
    label: str
    text: str


class Alternative(NamedTuple):
    """One path through a Doc."""

    probability: float  # of exactly these entities; 0 if it is too small for a float, as in long texts
    log_probability: float  # its natural logarithm
    entities: Tuple[ReadEntity, ...]  # in order


def set_alternatives(doc: Doc, alternatives: Iterable[Alternative]) -> None:
    """Store alternatives in a Doc, the most probable first."""
    doc.user_data[USER_DATA_KEY] = [[p, log_p, [list(ent[:3]) for ent in ents]] for p, log_p, ents in alternatives]


def get_alternatives(doc: Doc) -> List[Alternative]:
    """The alternatives of a Doc, the most probable first; empty if none were stored."""
    text = doc.text
    return [
        Alternative(p, log_p, tuple(ReadEntity(start, end, label, text[start:end]) for start, end, label in entities))
        for p, log_p, entities in doc.user_data.get(USER_DATA_KEY, ())
    ]


def check_bounds(bounds: Optional[Sequence[float]]) -> Optional[Tuple[float, float]]:
    """The bounds of uncertainty. Raises ValueError unless they are None or probabilities, 0 < lower <= upper <= 1."""
    if bounds is None:
        return None
    if len(bounds) != 2 or not 0 < bounds[0] <= bounds[1] <= 1:
        raise ValueError(
            f"uncertain is {list(bounds)}; expected two probabilities, the lower one above 0, such as [0.1, 0.9], or "
            "null."
        )
    return bounds[0], bounds[1]
