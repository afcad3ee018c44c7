"""Gold entities as tags of the predicted tokens, and an account of those that cannot be."""

from dataclasses import dataclass, field
from typing import List, Optional, Sequence, Tuple

import numpy as np
from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc, Span
from spacy.training import Example

MAX_SHOWN = 5


def gold_tags(example: Example) -> List[Optional[str]]:
    """BILUO tags of the predicted tokens, without white space at the edges of entities.

    example (Example): A predicted and an annotated Doc.
    RETURNS (List[Optional[str]]): A tag for each token; None where annotation is missing or entities do not align.
    """
    reference = example.reference
    if _same_tokens(reference, example.predicted):  # spaCy's alignment takes longer than a step of a small encoder
        ents: Sequence[Span] = reference.ents
        tags: List[Optional[str]] = ["O" if iob else None for iob in reference.to_array("ENT_IOB").tolist()]
        for ent in ents:
            tags[ent.start : ent.end] = biluo(len(ent), ent.label_)
    else:
        ents, aligned = example.get_aligned_ents_and_ner()
        tags = list(aligned)
    for ent in ents:
        start, end = trim(example.predicted, ent)
        if (start, end) != (ent.start, ent.end):
            inner = biluo(end - start, ent.label_)
            tags[ent.start : ent.end] = ["O"] * (start - ent.start) + inner + ["O"] * (ent.end - end)
    return tags


def biluo(n_tokens: int, label: str) -> List[str]:
    """RETURNS (List[str]): The tags of an entity of so many tokens."""
    if n_tokens < 2:
        return [f"U-{label}"] * n_tokens
    return [f"B-{label}", *[f"I-{label}"] * (n_tokens - 2), f"L-{label}"]


def trim(doc: Doc, span: Span) -> Tuple[int, int]:
    """RETURNS (Tuple[int, int]): Start and end of a span without the white-space tokens at its edges."""
    start, end = span.start, span.end
    while end > start and doc[end - 1].is_space:
        end -= 1
    while start < end and doc[start].is_space:
        start += 1
    return start, end


@dataclass
class GoldReport:
    """How many gold entities of the training examples can be learned as they are.

    entities (int): All entities.
    misaligned (int): Those whose edges are not token edges; their tokens count as not annotated.
    trimmed (int): Those with white space at an edge, which is learned as outside.
    shown (List[str]): A few of both.
    """

    entities: int = 0
    misaligned: int = 0
    trimmed: int = 0
    shown: List[str] = field(default_factory=list)

    def add(self, example: Example) -> None:
        """Count the entities of an example."""
        reference, predicted = example.reference, example.predicted
        ents = reference.ents
        self.entities += len(ents)
        same = _same_tokens(reference, predicted)
        for ent in ents:
            aligned = [ent] if same else example.get_aligned_spans_y2x([ent], allow_overlap=True)
            if not aligned:
                self.misaligned += 1
                self._show(ent, "not on token boundaries")
            elif trim(predicted, aligned[0]) != (aligned[0].start, aligned[0].end):
                self.trimmed += 1
                self._show(ent, "white space at an edge")

    @property
    def message(self) -> Optional[str]:
        """RETURNS (Optional[str]): What to tell the user, if anything."""
        if not self.misaligned and not self.trimmed:
            return None
        return (
            f"of {self.entities} gold entities, {self.misaligned} are not on the boundaries of the tokenizer's tokens "
            f"(these tokens are trained as not annotated) and {self.trimmed} have white space at an edge (which is "
            f"trained as outside), for example: {'; '.join(self.shown)}"
        )

    def _show(self, ent: Span, reason: str) -> None:
        if len(self.shown) < MAX_SHOWN:
            around = ent.doc.text[max(0, ent.start_char - 10) : ent.end_char + 10]
            self.shown.append(f"{ent.text!r} ({ent.label_}) in {around!r}: {reason}")


def _same_tokens(a: Doc, b: Doc) -> bool:
    return len(a) == len(b) and np.array_equal(a.to_array([ORTH, SPACY]), b.to_array([ORTH, SPACY]))
