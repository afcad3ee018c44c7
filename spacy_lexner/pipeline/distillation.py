"""Learning from the exact probabilities of another model: a teacher, or an earlier copy of the model itself."""

from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, set_dropout_rate
from thinc.types import Floats2d

from ..candidates.lexicon_node import LexiconLink
from ..tagging.spans.head import PathSearch, TaggerHead, TaggerOutput
from ..tagging.spans.tag_scheme import OUTSIDE, Bools2d
from .read_upto import read_upto

Loss = Tuple[float, TaggerOutput]  # the loss of a batch, and its gradient


class Searching(Protocol):
    """What a teacher's component, a `lex_ner`, must provide."""

    labels: Tuple[str, ...]

    def search(self, docs: Iterable[Doc]) -> Tuple[List[Doc], PathSearch]:
        """Unit Docs, and the search for paths in them."""


class Teacher(NamedTuple):
    """A pipeline whose `lex_ner` a student learns from."""

    nlp: Language
    component: str
    weight: float = 1.0  # of the divergence from the teacher; the loss on annotation has weight 1

    def tag_scores(self, unit_docs: Sequence[Doc], labels: Sequence[str]) -> List[Floats2d]:
        """RETURNS (List[Floats2d]): The tag probabilities of each unit, [n_units, n_target_tags], in the order of the
        student's labels. Raises ValueError if the student's first labels are not the teacher's, or if the teacher reads
        other units."""
        ner: Any = self.nlp.get_pipe(self.component)
        pipe: Searching = ner
        known = labels[: len(pipe.labels)]
        if set(known) != set(pipe.labels):
            raise ValueError(
                f"The teacher has the labels {', '.join(pipe.labels)}, the student begins with {', '.join(known)}: "
                "initialize the student with the teacher's labels, and add its own after them."
            )
        columns = [0, *(1 + 4 * pipe.labels.index(label) + kind for label in known for kind in range(4))]
        read, search = pipe.search(read_upto(self.nlp, ner, doc.text) for doc in unit_docs)
        for own, doc in zip(read, unit_docs):
            if len(own) != len(doc):
                raise ValueError(
                    f"The teacher reads {doc.text[:40]!r} as {len(own)} units, the student as {len(doc)}: both need "
                    "the same tokenizer, or characters as units."
                )
        return [scores[:, columns] for scores in search.tag_scores()]

    def loss(
        self,
        head: TaggerHead,
        unit_docs: Sequence[Doc],
        labels: Sequence[str],
        allowed: Sequence[Bools2d],
        outputs: TaggerOutput,
    ) -> Loss:
        """RETURNS (Tuple[float, TaggerOutput]): The weighted divergence of a student with these labels and this output,
        and its gradient."""
        loss, gradient = head.distil_loss(outputs, allowed, self.tag_scores(unit_docs, labels))
        emissions: List[Any] = [self.weight * rows for rows in gradient.emissions]
        transitions: Any = self.weight * gradient.transitions
        return self.weight * loss, TaggerOutput(emissions, transitions)


def add(first: Loss, second: Loss) -> Loss:
    """Add two losses and their gradients."""
    emissions: List[Any] = [a + b for a, b in zip(first[1].emissions, second[1].emissions)]
    transitions: Any = first[1].transitions + second[1].transitions
    return first[0] + second[0], TaggerOutput(emissions, transitions)


def recall(
    before: Optional[Model], model: Model, docs: List[Doc], constraint: Callable[[Doc], Bools2d], drop: float
) -> Tuple[float, Callable[[], Any]]:
    """Compute the divergence of a tagger from an earlier copy of itself.

    before (Optional[Model]): The copy, which may lack the latest labels. Raises ValueError for None.
    model (Model): The tagger.
    docs (List[Doc]): Unit Docs.
    constraint (Callable[[Doc], Bools2d]): Returns the tags that a Doc's tokens may have, [n_tokens, n_tags].
    drop (float): The dropout rate.
    RETURNS (Tuple[float, Callable]): The loss, and the function that computes the gradients.
    """
    if before is None:
        raise ValueError(
            "There is nothing to rehearse: call nlp.resume_training() first, which keeps a copy of the model as it is."
        )
    _match_any_doc(before)
    head: TaggerHead = model.attrs["head"]
    allowed = [constraint(doc) for doc in docs]
    n_tags = before.get_ref("output_layer").get_dim("nO")
    then: List[Any] = [np.ascontiguousarray(mask[:, :n_tags]) for mask in allowed]
    target = head.search(before.predict(docs), then).tag_scores()
    set_dropout_rate(model, drop)
    outputs, backprop = model.begin_update(docs)
    loss, d_outputs = head.distil_loss(outputs, allowed, target)
    return loss, lambda: backprop(d_outputs)


def _match_any_doc(model: Model) -> None:
    """Let a model match Docs of any pipeline, as in training: `nlp.rehearse` runs no `lex_matcher`."""
    for node in model.walk():
        link = node.attrs.get("link")
        if isinstance(link, LexiconLink) and link.source is not None and link.owner is not None:
            link.set(link.source, link.owner, None)


def open_labels(gold: Bools2d, labels: Sequence[str], annotated: Sequence[str]) -> Bools2d:
    """Relax gold tags, [n_tokens, n_tags], of texts in which only some labels are annotated: outside tokens may have
    any tag of the other labels."""
    gold = gold.copy()
    for i, label in enumerate(labels):
        if label not in annotated:
            gold[gold[:, OUTSIDE], 1 + 4 * i : 5 + 4 * i] = True
    return gold
