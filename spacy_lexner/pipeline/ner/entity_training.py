"""The part of `lex_ner` that learns: labels and annotation."""

import logging
from typing import Iterable, List, Set

from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.training import Example

from ...tagging.spans.tag_scheme import Bools2d, TagSpan, UnknownLabelError
from ...tagging.spans.word_borders import is_space
from ..sequence_tagger import SequenceTagger
from .gold_entities import GoldReport, gold_tags

logger = logging.getLogger(__name__)


class EntityTraining(SequenceTagger):
    """Learns entities. A subclass sets `cfg["incorrect_spans_key"]`.

    gold_report (GoldReport): What could not be learned.
    """

    gold_report: GoldReport

    def survey(self, examples: Iterable[Example]) -> Set[str]:
        """Collect the labels of the examples, and count in `gold_report` the entities that cannot be learned as they
        are; if there are any, a warning tells."""
        self.gold_report = GoldReport()
        labels: Set[str] = set()
        for example in examples:
            labels.update(ent.label_ for ent in example.reference.ents if ent.label_)
            self.gold_report.add(example)
        if self.gold_report.message:
            logger.warning("%s: %s", self.name, self.gold_report.message)
        return labels

    def training_constraint(self, doc: Doc) -> Bools2d:
        return self.scheme.constraint(is_space(doc))

    def gold(self, example: Example) -> Bools2d:
        try:
            return self.scheme.gold(gold_tags(example))
        except UnknownLabelError as error:
            raise ValueError(
                f"{self.name}: the annotation of {example.reference.text[:40]!r} has the label {error.label!r}, which "
                f"was not there when the component was initialised (its labels: {', '.join(self.labels)}). Either call "
                f"nlp.get_pipe({self.name!r}).add_label({error.label!r}) before this update, or initialise with it."
            ) from None

    def refused(self, example: Example) -> List[TagSpan]:
        key = self.cfg["incorrect_spans_key"]
        if key is None or key not in example.reference.spans:
            return []
        ents = {(ent.start, ent.end, ent.label) for ent in example.get_aligned_spans_y2x(example.reference.ents)}
        refused = []
        for span in example.get_aligned_spans_y2x(example.reference.spans[key], allow_overlap=True):
            if (span.start, span.end, span.label) in ents:
                raise ValueError(Errors.E868.format(span=(span.start_char, span.end_char, span.label_)))
            if span.label_ in self.cfg["labels"]:  # others are never predicted: there is nothing to unlearn
                refused.append(TagSpan(span.start, span.end, self.scheme.index(span.label_)))
        return refused
