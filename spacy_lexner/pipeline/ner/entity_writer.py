"""Writing entities found on units to the tokens of Docs, with their scores and exact characters."""

import logging
from collections import Counter
from typing import Iterator, List, Literal, NamedTuple, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ...candidates.storage import token_borders
from ...candidates.unit_docs import covering
from ...candidates.user_data import reading
from ...tagging.spans.word_rules import CUTS_TOKENS, RuleConflict
from ..exact_offsets import add_offset_extensions, set_offsets
from ..extensions import add_score_extension
from .constraints import kept_spans
from .entity_search import Entity, Place, Prediction
from .split_tokens import split_tokens

logger = logging.getLogger(__name__)
AlignmentMode = Literal["expand", "contract", "strict", "split"]
UNCERTAIN_KEY, LEFT_OUT_KEY = "lex_uncertain", "lex_left_out"
COLUMNS = ("scores", "offsets", "components")  # in the attrs of these groups, a value for each span
MOVED, DROPPED, OVERLAP = "moved", "dropped", "overlap"


class Placed(NamedTuple):
    """An entity on tokens."""

    span: Span
    entity: Entity  # on units
    start: int  # its exact characters
    end: int


def read_uncertain(doc: Doc) -> Iterator[Tuple[int, int, str, float]]:
    """YIELDS (Tuple[int, int, str, float]): The uncertain spans of a Doc: exact characters, label and probability.
    Raises ValueError if these were lost, as in `Doc.from_docs`, or if spans were added."""
    group = doc.spans.get(UNCERTAIN_KEY)
    if group is None:
        return
    with reading(f'doc.spans["{UNCERTAIN_KEY}"]'):
        rows = list(zip(group, group.attrs["offsets"], group.attrs["scores"], strict=True))
        found = [(start, end, span.label_, score) for span, (start, end), score in rows]
    yield from found


class EntityWriter:
    """Writes the entities that a component found to Docs, around those that the Docs keep. An entity that does not
    begin and end with tokens gets all tokens it touches ("expand"), those wholly inside ("contract") or none
    ("strict"); "split" splits the tokens first."""

    def __init__(self, component: str, mode: AlignmentMode) -> None:
        self.component = component
        self.mode = mode
        # Number of entities moved to token borders (MOVED), dropped for lack of tokens (DROPPED), and dropped because
        # more probable or kept entities have all their tokens (OVERLAP).
        self.counts: Counter[str] = Counter()
        self._warned = False
        self.add_extensions()

    @staticmethod
    def add_extensions() -> None:
        """Add the extensions that are written to."""
        add_score_extension()
        add_offset_extensions()

    def write(self, doc: Doc, prediction: Prediction, *, overwrite: bool) -> List[RuleConflict]:
        """Write entities with their scores and exact characters; those without tokens of their own go to
        `doc.spans["lex_left_out"]`, on all tokens they touch.

        doc (Doc): The Doc.
        prediction (Prediction): The predictions for it.
        overwrite (bool): Replace the entities and blocked tokens that the Doc has.
        RETURNS (List[RuleConflict]): The rules that could not be followed.
        """
        self.add_extensions()  # an unpickled component was not created in this process
        unit_doc = prediction.read_from(doc)
        if self.mode == "split" and doc is not unit_doc:
            split_tokens(doc, np.concatenate(_characters(unit_doc, prediction.entities)))
        replaced = doc.ents if overwrite else ()
        for ent in replaced:
            ent._.lex_score = None
            set_offsets(ent, ent.start_char, ent.end_char)
        kept, blocked = kept_spans(doc, overwrite)
        placed = self.place(doc, unit_doc, prediction.entities, [*kept, *blocked])
        _forget_ids(doc, [*replaced, *(one.span for one in placed)])
        doc.set_ents([*kept, *(one.span for one in placed)], blocked=blocked, default="outside")
        for one in placed:
            one.span._.lex_score = one.entity.score
            set_offsets(one.span, one.start, one.end)
        there = {(one.entity.start, one.entity.end) for one in placed}
        lost = [ent for ent in prediction.entities if (ent.start, ent.end) not in there]
        if lost or LEFT_OUT_KEY in doc.spans:
            self._write_group(doc, LEFT_OUT_KEY, EntityWriter(self.component, "expand").align(doc, unit_doc, lost))
            if not doc.spans[LEFT_OUT_KEY]:
                del doc.spans[LEFT_OUT_KEY]
        return [*prediction.conflicts, *self._unplaced(doc, prediction, lost)]

    def write_uncertain(self, doc: Doc, prediction: Prediction) -> None:
        """Write the uncertain spans to `doc.spans["lex_uncertain"]`; their probabilities go to its `attrs["scores"]`,
        their exact characters to `attrs["offsets"]`."""
        placed = self.align(doc, prediction.read_from(doc), prediction.uncertain, count=False)
        self._write_group(doc, UNCERTAIN_KEY, placed)

    def place(self, doc: Doc, unit_doc: Doc, entities: Sequence[Entity], kept: Sequence[Span]) -> List[Placed]:
        """Put entities on the tokens of a Doc, around those that it keeps. If two touch the same token, the more
        probable one gets it, and the other the rest of its tokens."""
        placed = self.align(doc, unit_doc, entities)
        if doc is unit_doc:
            return placed
        taken = np.zeros(len(doc), bool)
        for span in kept:
            taken[span.start : span.end] = True
        chosen = []
        for one in sorted(placed, key=lambda one: -one.entity.score):
            free = np.flatnonzero(~taken[one.span.start : one.span.end])  # at most its first and last are taken
            if not len(free):
                self._drop(OVERLAP, doc, one.start, one.end, "other entities have all its tokens")
                continue
            span = Span(doc, one.span.start + int(free[0]), one.span.start + int(free[-1]) + 1, label=one.span.label)
            taken[span.start : span.end] = True
            self.counts[MOVED] += (one.start, one.end) != (span.start_char, span.end_char)
            chosen.append(one._replace(span=span))
        return sorted(chosen, key=lambda one: one.start)

    def align(self, doc: Doc, unit_doc: Doc, entities: Sequence[Entity], *, count: bool = True) -> List[Placed]:
        """Put entities on the tokens of a Doc, each independently of the others."""
        if doc is unit_doc:
            spans = [Span(doc, ent.start, ent.end, label=ent.label) for ent in entities]
            return [Placed(span, ent, span.start_char, span.end_char) for span, ent in zip(spans, entities)]
        starts, ends = _characters(unit_doc, entities)
        begins, stops = token_borders(doc)
        first, last = covering(doc, starts, ends)
        whole = (begins[first] == starts) & (stops[last - 1] == ends)
        if self.mode == "contract":
            first, last = np.searchsorted(begins, starts, "left"), np.searchsorted(stops, ends, "right")
        fits = whole if self.mode == "strict" else first < last
        placed = []
        for ent, good, *place in zip(entities, *(column.tolist() for column in (fits, first, last, starts, ends))):
            a, b, start, end = place
            if good:
                placed.append(Placed(Span(doc, a, b, label=ent.label), ent, start, end))
            elif count:
                self._drop(DROPPED, doc, start, end, "it does not begin and end with tokens")
        return placed

    def _write_group(self, doc: Doc, key: str, placed: Sequence[Placed]) -> None:
        """Write spans to a group, their scores, exact characters and this component to its `attrs`. Spans that other
        components wrote stay."""
        rows = [(one.span, one.entity.score, [one.start, one.end], self.component) for one in placed]
        columns = [doc.spans[key].attrs.get(name, ()) for name in COLUMNS] if key in doc.spans else [()]
        if any(name != self.component for name in columns[-1]):  # once tokens were merged, spaCy cannot read the group
            rows = [*(row for row in zip(doc.spans[key], *columns) if row[-1] != self.component), *rows]
        attrs = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS, 1)}
        doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=[row[0] for row in rows])

    def _drop(self, what: str, doc: Doc, start: int, end: int, reason: str) -> None:
        self.counts[what] += 1
        if not self._warned:
            self._warned = True
            logger.warning(
                "%s: the entity %r in %r is left out (alignment_mode = %r): %s. This warning is shown once; the "
                "component's `alignment_counts` has the numbers.",
                *(self.component, doc.text[start:end], doc.text[max(0, start - 10) : end + 10], self.mode, reason),
            )

    def _unplaced(self, doc: Doc, prediction: Prediction, lost: Sequence[Entity]) -> List[RuleConflict]:
        """The rules whose forced words have no tokens of their own in a Doc."""
        places = {(ent.start, ent.end) for ent in lost}
        conflicts = []
        for word in prediction.forced if places else ():
            if (word.match.start, word.match.end) in places:
                first, last = covering(doc, *np.array([[word.match.start_char], [word.match.end_char]]))
                tokens = doc[int(first[0]) : int(last[0])].text
                conflicts.append(word.conflict(CUTS_TOKENS, tokens)._replace(component=self.component))
        return conflicts


def _forget_ids(doc: Doc, spans: Sequence[Span]) -> None:
    """Remove the ids of the entities that tokens were in before. `Doc.set_ents` leaves them there, and a new entity
    would have the id of the old one."""
    if doc.to_array("ENT_ID").any():
        for token in (token for span in spans for token in span):
            token.ent_id = 0


def _characters(unit_doc: Doc, entities: Sequence[Entity]) -> Tuple[np.ndarray, np.ndarray]:
    begins, stops = token_borders(unit_doc)
    first, last = np.array([(ent.start, ent.end - 1) for ent in entities], "i8").reshape(-1, 2).T
    return begins[first], stops[last]


def move_to_units(doc: Doc, unit_doc: Doc, places: Sequence[Place]) -> List[Place]:
    """Map spans (first token, end, label) of a Doc to its unit Doc. Raises ValueError for one without tokens there."""
    for start, end, _ in places:
        if not 0 <= start < end <= len(doc):
            raise ValueError(
                f"A span from token {start} to {end} (exclusive) cannot be scored in {doc.text[:40]!r}: expected at "
                f"least one of its {len(doc)} tokens, 0 <= start < end <= {len(doc)}."
            )
    if doc is unit_doc:
        return list(places)
    spans = [doc[start:end] for start, end, _ in places]
    offsets = np.array([(span.start_char, span.end_char) for span in spans], "i8").reshape(-1, 2)
    moved = zip(*(column.tolist() for column in covering(unit_doc, *offsets.T)))
    return [(start, end, label) for (start, end), (*_, label) in zip(moved, places)]
