"""The linked mentions of a Doc: which entity each of them names, and on which wordpieces it is shown."""

import json
from typing import Any, Dict, List, Literal, NamedTuple, Optional, Sequence, Set, Tuple, get_args

import numpy as np
from spacy.tokens import Doc, Span

from ...candidates.batch_words import expand_ranges

USER_DATA_KEY: Any = ("._.", "lex_entities", None, None)
Overlaps = Literal["longest", "first", "all"]
Alignment = Literal["first", "alternate"]


class LexEntity(NamedTuple):
    """A mention that was linked to an entity: `doc.text[start:end]` names `entity_id`.

    start, end (int): Characters.
    entity_id (str): The entity.
    known (bool): Whether it has a vector; without one the encoder does not see it.
    """

    start: int
    end: int
    entity_id: str
    known: bool


class DocEntities(NamedTuple):
    """The linked mentions of a Doc, ordered by start.

    starts, ends (numpy.ndarray): int[n], characters of the Doc.
    ids (List[str]): The entity of each.
    vectors (numpy.ndarray): float32[n, D], zeros where there is none.
    known (numpy.ndarray): bool[n], which of them have a vector.
    """

    starts: np.ndarray
    ends: np.ndarray
    ids: List[str]
    vectors: np.ndarray
    known: np.ndarray


def choose_mentions(starts: np.ndarray, ends: np.ndarray, overlaps: Overlaps) -> np.ndarray:
    """Choose which of several overlapping mentions are linked.

    starts, ends (numpy.ndarray): int[n], characters of each mention.
    overlaps (str): "longest": the longest of those that overlap, of equal ones the first; "first": from left to right
        the longest that begins there; "all": every mention, the longest of those that begin at the same character.
    RETURNS (numpy.ndarray): int64[m], the mentions chosen, ordered by start.
    """
    if overlaps not in get_args(Overlaps):
        raise ValueError(f"Unknown overlaps={overlaps!r}. Choose one of {get_args(Overlaps)}.")
    order = np.lexsort((starts, starts - ends)) if overlaps == "longest" else np.lexsort((-ends, starts))
    chosen: List[int] = []
    taken: Set[int] = set()
    for i in order.tolist():
        characters = range(int(starts[i]), int(ends[i])) if overlaps != "all" else (int(starts[i]),)
        if taken.isdisjoint(characters):
            taken.update(characters)
            chosen.append(i)
    result = np.array(chosen, "i8")
    return result[np.argsort(starts[result], kind="stable")]


def align_mentions(starts: np.ndarray, ends: np.ndarray, alignment: Alignment) -> Tuple[np.ndarray, np.ndarray]:
    """Say on which wordpieces mentions are shown.

    starts, ends (numpy.ndarray): int64[n], wordpieces of each mention.
    alignment (str): "first": the first wordpiece of the mention (Zhang et al. 2019). "alternate": every second one from
        the first on, which is what the authors' pretraining script does to longer mentions.
    RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): int64[m] wordpieces, int64[m] the mention of each.
    """
    if alignment not in get_args(Alignment):
        raise ValueError(f"Unknown alignment={alignment!r}. Choose one of {get_args(Alignment)}.")
    if alignment == "first":
        return starts, np.arange(len(starts))
    counts = (ends - starts + 1) // 2
    mentions = np.repeat(np.arange(len(starts)), counts)
    return starts[mentions] + 2 * expand_ranges(np.zeros(len(starts), "i8"), counts), mentions


def number_entities(found: Sequence[DocEntities]) -> Tuple[np.ndarray, List[str], np.ndarray]:
    """Number the distinct entities of a batch of Docs, those that have a vector.

    found (Sequence[DocEntities]): The mentions of each Doc.
    RETURNS (Tuple[numpy.ndarray, List[str], numpy.ndarray]): int64[n], of all mentions the number of their entity from
        1 on, 0 without a vector; the ids; float32[1 + U, D], their vectors after a row of zeros.
    """
    numbers: Dict[str, int] = {}
    rows: List[np.ndarray] = []
    mentions: List[int] = []
    width = max((entities.vectors.shape[1] for entities in found), default=0)
    for entities in found:
        for entity_id, vector, known in zip(entities.ids, entities.vectors, entities.known.tolist()):
            if known and entity_id not in numbers:
                numbers[entity_id] = len(numbers) + 1
                rows.append(vector)
            mentions.append(numbers[entity_id] if known else 0)
    return np.array(mentions, "i8"), list(numbers), np.stack([np.zeros(width, "f4"), *rows])


def set_entities(doc: Doc, entities: DocEntities) -> None:
    """Note in a Doc which mentions were linked to which entities."""
    columns = entities.starts.tolist(), entities.ends.tolist(), entities.ids, entities.known.tolist()
    links = list(zip(*columns))
    doc.user_data[USER_DATA_KEY] = json.dumps(links, ensure_ascii=False).encode("utf8")


def get_entities(doc: Doc) -> Optional[List[LexEntity]]:
    """RETURNS (Optional[List[LexEntity]]): The linked mentions of a Doc; None if no encoder has linked any."""
    packed = doc.user_data.get(USER_DATA_KEY)
    return None if packed is None else [LexEntity(*link) for link in json.loads(packed)]


def get_span_entities(span: Span) -> Optional[List[LexEntity]]:
    """RETURNS (Optional[List[LexEntity]]): The linked mentions that overlap a Span."""
    found = get_entities(span.doc)
    if found is None:
        return None
    return [entity for entity in found if entity.start < span.end_char and entity.end > span.start_char]


def install_entity_extensions() -> None:
    """Add `doc._.lex_entities` and `span._.lex_entities`. What someone else put there under these names stays."""
    if not Doc.has_extension("lex_entities"):
        Doc.set_extension("lex_entities", getter=get_entities)
    if not Span.has_extension("lex_entities"):
        Span.set_extension("lex_entities", getter=get_span_entities)
