"""Predictions of entities, written to Docs."""

from typing import List

from spacy.tokens import Doc

from ...tagging.spans.word_rules import RuleConflict
from ..exact_offsets import add_offset_extensions, set_offsets
from ..extensions import add_score_extension
from .alignment import AlignmentMode, EntityAligner, find_unplaced, set_uncertain
from .constraints import kept_spans
from .entity_search import Prediction


class EntityWriter:
    """Writes what a component has found to Docs: on their tokens, around what they keep."""

    def __init__(self, component: str, mode: AlignmentMode) -> None:
        self.aligner = EntityAligner(component, mode)
        self.add_extensions()

    @staticmethod
    def add_extensions() -> None:
        """Add the extensions that are written."""
        add_score_extension()
        add_offset_extensions()

    def write(self, doc: Doc, prediction: Prediction, *, overwrite: bool) -> List[RuleConflict]:
        """Write entities with their scores and exact characters.

        doc (Doc): The Doc.
        prediction (Prediction): What was found.
        overwrite (bool): Replace the entities and blocked tokens that the Doc has.
        RETURNS (List[RuleConflict]): The rules that could not be followed.
        """
        self.add_extensions()  # an unpickled component has not been made here
        unit_doc = prediction.read_from(doc)
        self.aligner.split(doc, unit_doc, prediction.entities)
        if overwrite:
            for ent in doc.ents:
                ent._.lex_score = None
                set_offsets(ent, ent.start_char, ent.end_char)
        kept, blocked = kept_spans(doc, overwrite)
        placed = self.aligner.place(doc, unit_doc, prediction.entities, [*kept, *blocked])
        doc.set_ents([*kept, *(one.span for one in placed)], blocked=blocked, default="outside")
        for one in placed:
            one.span._.lex_score = one.entity.score
            set_offsets(one.span, one.start, one.end)
        return [*prediction.conflicts, *find_unplaced(doc, prediction, placed, self.aligner.component)]

    def write_uncertain(self, doc: Doc, prediction: Prediction) -> None:
        """Write the uncertain spans to `doc.spans["lex_uncertain"]`."""
        set_uncertain(doc, self.aligner.align(doc, prediction.read_from(doc), prediction.uncertain, count=False))
