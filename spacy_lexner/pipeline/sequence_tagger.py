"""What trainable pipes share that tag the tokens of a Doc with labelled spans: labels, training, streams."""

import logging
from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import minibatch
from thinc.api import Optimizer, set_dropout_rate

from ..candidates.training_texts import show_training_docs
from ..tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan
from .checked_loading import CheckedLoading
from .matcher.find_matchers import check_all_rules
from .rule_follower import RuleFollower

logger = logging.getLogger(__name__)


class SequenceTagger(RuleFollower, CheckedLoading):
    """Base class of pipes whose model is a tagger: it gives emissions and transitions, and `attrs["head"]` turns these,
    with the tags that tokens may have, into losses, paths and span scores.

    A subclass says which labels the examples hold (`survey`), which tags a Doc (`constraint`, `training_constraint`)
    and its annotation (`gold`, `refused`) leave, and what a prediction is (`predict`, `set_annotations`). It sets
    `vocab`, `model`, `name`, `scorer` and `cfg`, with `cfg["labels"]`.
    """

    vocab: Any
    model: Any
    name: str
    cfg: Dict[str, Any]
    scorer: Optional[Callable]

    @property
    def labels(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels, in the order of their tags."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels, as `initialize` takes them."""
        return self.labels

    @property
    def scheme(self) -> TagScheme:
        """RETURNS (TagScheme): The tags of the labels."""
        if self._scheme is None or self._scheme.labels != self.labels:
            self._scheme = TagScheme(self.labels)
        return self._scheme

    _scheme: Optional[TagScheme] = None

    def add_label(self, label: str) -> int:
        """Add a label. A model that is trained keeps what it knows; the new label has to be learned.

        label (str): The label.
        RETURNS (int): 0 if it was there, otherwise 1.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        if label in self.labels:
            return 0
        fixed = self.model.attrs.get("labels")
        if fixed is not None and label not in fixed:
            raise ValueError(
                f"{self.name}: {label!r} cannot be added, the tags of its model are fixed: its labels are "
                f"{', '.join(fixed)}."
            )
        if not label or label != label.strip():
            raise ValueError(f"{self.name}: {label!r} is no label: it is empty or has white space at its edges.")
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        self.tell_labels()
        if self.is_initialized:
            self.set_output(self.scheme.n_tags)
        return 1

    @property
    def is_initialized(self) -> bool:
        """RETURNS (bool): Whether the model has weights."""
        output = self.model.get_ref("output_layer")
        return all(output.has_param(name) for name in output.param_names)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        labels: Optional[Sequence[str]] = None,
    ) -> None:
        """Set the labels, check the annotation and initialise the model.

        get_examples (Callable[[], Iterable[Example]]): Gives the training examples.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Sequence[str]]): The labels; without them, those of the examples, sorted.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        found = sorted(self.survey(get_examples()))
        for label in (*self.model.attrs.get("labels", ()), *(found if labels is None else labels)):
            self.add_label(label)
        if unknown := [label for label in found if label not in self.labels]:
            logger.warning("%s: the examples have labels that were not given to initialize: %s", self.name, unknown)
        if not self.labels:
            raise ValueError(Errors.E143.format(name=self.name))
        docs = [example.predicted for example in islice(get_examples(), 10)]
        if not docs:
            raise ValueError(Errors.E923.format(name=self.name))
        show_training_docs(self.model, (example.predicted for example in get_examples()))
        n_tags, ops = self.scheme.n_tags, self.model.ops
        sample = ([ops.alloc2f(len(doc), n_tags) for doc in docs], ops.alloc2f(n_tags + 1, n_tags + 1))
        self.model.initialize(X=docs, Y=sample)
        if nlp is not None:
            check_all_rules(nlp)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from a batch.

        examples (Iterable[Example]): The batch.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer; without one, gradients are kept for `finish_update`.
        losses (Optional[Dict[str, float]]): Losses by name of component, added to.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        self._require_initialized()
        set_dropout_rate(self.model, drop)
        outputs, backprop = self.model.begin_update([example.predicted for example in examples])
        loss, d_outputs = self.get_loss(examples, outputs)
        backprop(d_outputs)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Any) -> Tuple[float, Any]:
        """Loss of a batch and its gradient.

        examples (Iterable[Example]): The batch.
        scores (Tuple[List[Floats2d], Floats2d]): The output of the model.
        RETURNS (Tuple[float, Any]): The loss, and its gradient in the shape of the output.
        """
        examples = list(examples)
        allowed = [self.training_constraint(example.predicted) for example in examples]
        gold = [self.gold(example) for example in examples]
        refused = [self.refused(example) for example in examples]
        loss, d_scores = self.model.attrs["head"].loss(scores, allowed, gold, refused)
        if not abs(loss) < float("inf"):
            raise ValueError(Errors.E910.format(name=self.name))
        return loss, d_scores

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights. An optimizer that has a `finish_update` of its own may clip all gradients together.

        sgd (Optimizer): The optimizer.
        """
        finish = getattr(sgd, "finish_update", None)
        if finish is None:
            self.model.finish_update(sgd)
        else:
            finish(self.model)

    def rehearse(self, examples: Iterable[Example], **config: Any) -> Dict[str, float]:
        """Refused: raises NotImplementedError."""
        raise NotImplementedError(
            f"{self.name} cannot rehearse: there is no such objective for this kind of tagger. To keep what it learned "
            "give `update` examples of its earlier training data too, annotated by the pipeline itself if need be."
        )

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process a stream. A Doc that fails is handed to the error handler, alone; the others go on.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): Number of Docs to process at once.
        YIELDS (Doc): The Docs, in order.
        """
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                predictions = self.predict(docs)
            except Exception:
                # Whose fault it was shows when each Doc is tried alone.
                predictions = [None] * len(docs)
            for doc, prediction in zip(docs, predictions):
                try:
                    annotated = self.annotate(doc, self.predict([doc])[0] if prediction is None else prediction)
                except Exception as error:
                    handle_error(self.name, self, [doc], error)
                else:
                    yield annotated

    def annotate(self, doc: Doc, prediction: Any) -> Doc:
        """Write a prediction to a Doc. A subclass may give another Doc in its place.

        doc (Doc): The Doc.
        prediction (Any): What `predict` gave for it.
        RETURNS (Doc): The Doc that goes on through the pipeline.
        """
        self.set_annotations([doc], [prediction])
        return doc

    def predict(self, docs: Iterable[Doc]) -> List[Any]:
        """RETURNS (List[Any]): A prediction for each Doc, never None."""
        raise NotImplementedError(Errors.E931.format(parent="SequenceTagger", method="predict", name=self.name))

    def survey(self, examples: Iterable[Example]) -> Iterable[str]:
        """Look through the training examples before the model is initialised.

        RETURNS (Iterable[str]): The labels of their annotation.
        """
        raise NotImplementedError(Errors.E931.format(parent="SequenceTagger", method="survey", name=self.name))

    def constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that tokens may have in a prediction, [n_tokens, n_tags]."""
        raise NotImplementedError(Errors.E931.format(parent="SequenceTagger", method="constraint", name=self.name))

    def training_constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that tokens may have in any prediction, whatever is annotated."""
        raise NotImplementedError(
            Errors.E931.format(parent="SequenceTagger", method="training_constraint", name=self.name)
        )

    def gold(self, example: Example) -> Bools2d:
        """RETURNS (Bools2d): The tags that agree with the annotation, [n_tokens, n_tags]."""
        raise NotImplementedError(Errors.E931.format(parent="SequenceTagger", method="gold", name=self.name))

    def refused(self, example: Example) -> List[TagSpan]:
        """RETURNS (List[TagSpan]): Spans known to be wrong."""
        return []

    def _require_initialized(self) -> None:
        if not self.is_initialized:
            raise ValueError(Errors.E109.format(name=self.name))
