"""The most probable readings of a Doc: what else its entities may be."""

from typing import Any, List, NamedTuple, Sequence, Tuple

from spacy.tokens import Doc

USER_DATA_KEY: Any = ("._.", "lex_alternatives", None, None)


class ReadEntity(NamedTuple):
    """An entity of a reading: its characters, label and text. Tokens may change behind the component, characters do
    not."""

    start_char: int
    end_char: int
    label: str
    text: str


class Alternative(NamedTuple):
    """A reading of a Doc.

    probability (float): That of all its entities together, and of nothing else being one; 0 where it is too small for a
        number, as in long texts.
    log_probability (float): Its natural logarithm.
    entities (Tuple[ReadEntity, ...]): The entities, ordered.
    """

    probability: float
    log_probability: float
    entities: Tuple[ReadEntity, ...]


class Reading(NamedTuple):
    """A reading in terms of tokens: start, end (exclusive) and label of each entity."""

    probability: float
    log_probability: float
    entities: List[Tuple[int, int, str]]


def set_alternatives(doc: Doc, readings: Sequence[Reading]) -> None:
    """Store readings in a Doc.

    doc (Doc): The Doc.
    readings (Sequence[Reading]): The readings, the most probable first.
    """
    doc.user_data[USER_DATA_KEY] = [
        [p, log_p, [[doc[start].idx, doc[end - 1].idx + len(doc[end - 1]), label] for start, end, label in entities]]
        for p, log_p, entities in readings
    ]


def get_alternatives(doc: Doc) -> List[Alternative]:
    """RETURNS (List[Alternative]): The readings of a Doc, the most probable first; none where no component was to find
    them."""
    text = doc.text
    return [
        Alternative(p, log_p, tuple(ReadEntity(start, end, label, text[start:end]) for start, end, label in entities))
        for p, log_p, entities in doc.user_data.get(USER_DATA_KEY, ())
    ]
