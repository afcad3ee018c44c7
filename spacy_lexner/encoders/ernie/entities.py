"""The linked mentions of a Doc: their entities, and their alignment to wordpieces."""

import json
from typing import Any, Dict, List, Literal, NamedTuple, Optional, Sequence, Set, Tuple, get_args

import numpy as np
from spacy.tokens import Doc, Span

from ...candidates.batch_words import expand_ranges
from ...candidates.segments import Segments
from ...candidates.user_data import reading

USER_DATA_KEY: Any = ("._.", "lex_entities", None, None)
Overlaps = Literal["longest", "first", "all"]
Alignment = Literal["first", "alternate"]


class LexEntity(NamedTuple):
    """A mention that was linked to an entity: `doc.text[start:end]` names `entity_id`."""

    start: int  # in characters
    end: int
    entity_id: str
    known: bool  # whether it has a vector; the encoder ignores entities without one


class DocEntities(NamedTuple):
    """The linked mentions of a Doc, ordered by start."""

    starts: np.ndarray  # int[n], in characters
    ends: np.ndarray  # int[n]
    ids: List[str]  # the entity of each
    vectors: np.ndarray  # float32[n, D], zeros where there is none
    known: np.ndarray  # bool[n], which have a vector


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
    """Choose the wordpieces to align the mentions `starts` to `ends` (wordpieces, half-open, int64[n]) to. "first": the
    first wordpiece of each (Zhang et al. 2019). "alternate": every second one from there on, as the authors'
    pretraining script does for longer mentions. Returns the wordpieces, int64[m], and the mention of each, int64[m]."""
    if alignment not in get_args(Alignment):
        raise ValueError(f"Unknown alignment={alignment!r}. Choose one of {get_args(Alignment)}.")
    if alignment == "first":
        return starts, np.arange(len(starts))
    counts = (ends - starts + 1) // 2
    mentions = np.repeat(np.arange(len(starts)), counts)
    return starts[mentions] + 2 * expand_ranges(np.zeros(len(starts), "i8"), counts), mentions


def number_entities(found: Sequence[DocEntities]) -> Tuple[np.ndarray, List[str], np.ndarray]:
    """Number the distinct entities with a vector, from 1 on. Returns the number of each mention's entity, int64[n], 0
    without a vector; the ids; and the vectors after a row of zeros, float32[1 + U, D]."""
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
    """Store the linked mentions in a Doc."""
    columns = entities.starts.tolist(), entities.ends.tolist(), entities.ids, entities.known.tolist()
    _store(doc, list(zip(*columns)))


def join_entities(segments: Segments) -> None:
    """Store the linked mentions of segments in the Docs that were cut into them. Of overlapping segments, the one whose
    own part contains a mention's start supplies it."""
    links: List[List[LexEntity]] = [[] for _ in segments.whole]
    for part, (i, offset, own) in zip(segments.docs, segments.characters()):
        found = (each._replace(start=each.start + offset, end=each.end + offset) for each in get_entities(part) or ())
        links[i] += [each for each in found if each.start in own]
    for doc, joined in zip(segments.whole, links):
        _store(doc, joined)


def _store(doc: Doc, links: Sequence[Tuple[int, int, str, bool]]) -> None:
    doc.user_data[USER_DATA_KEY] = json.dumps(links, ensure_ascii=False).encode("utf8")


@reading("doc._.lex_entities")
def get_entities(doc: Doc) -> Optional[List[LexEntity]]:
    """RETURNS (Optional[List[LexEntity]]): The linked mentions of a Doc; None if no encoder has run."""
    packed = doc.user_data.get(USER_DATA_KEY)
    return None if packed is None else [LexEntity(*link) for link in json.loads(packed)]


def get_span_entities(span: Span) -> Optional[List[LexEntity]]:
    """RETURNS (Optional[List[LexEntity]]): The linked mentions that overlap a Span; None if no encoder has run."""
    found = get_entities(span.doc)
    if found is None:
        return None
    return [entity for entity in found if entity.start < span.end_char and entity.end > span.start_char]


def install_entity_extensions() -> None:
    """Add `doc._.lex_entities` and `span._.lex_entities`, unless extensions of these names exist."""
    if not Doc.has_extension("lex_entities"):
        Doc.set_extension("lex_entities", getter=get_entities)
    if not Span.has_extension("lex_entities"):
        Span.set_extension("lex_entities", getter=get_span_entities)
