"""The base class of trainable pipes that tag tokens with labelled spans: labels, training, streams, loading."""

from functools import partial
from typing import Any, Callable, ClassVar, Dict, Generic, Iterable, Iterator, List, Optional, Sequence, Tuple

from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Model, Optimizer, set_dropout_rate

from ..lexicon.rules import RuleReader
from ..tagging.spans.head import TaggerHead, TaggerOutput
from ..tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan
from .distillation import Teacher, add, open_labels, recall
from .doc_stream import PredictionT, annotate_stream
from .lexicon_pipe import find_matchers
from .rule_follower import RuleFollower
from .sealed_pipe import SealedPipe
from .settings import LABELS, TEXT_OR_NULL, Setting, check_settings, one_of
from .tag_labels import TagLabels
from .tagger_model import finish_update, has_weights, initialize_model, require_vectors
from .units import UnitReader, Units, read_examples


class SequenceTagger(SealedPipe, Generic[PredictionT]):
    """Base class of pipes whose model is a tagger: the model returns emissions and transitions, and its head turns
    these, with the tags that tokens may have, into losses, paths and span scores.

    The model reads unit Docs (`unit_docs`) and tags their tokens. A subclass defines which labels the examples have
    (`find_labels`), which tags a unit Doc (`training_constraint`) and its annotation (`gold`, `incorrect`) allow, which
    rules apply to it (`rule_reader`), what a prediction is (`predict`, `set_annotations`) and which settings are valid
    (`SETTINGS`); it calls `labels_changed` once it is set up.
    """

    SETTINGS: ClassVar[Dict[str, Setting]] = {
        "labels": LABELS,
        "units": one_of(["characters", "tokens"]),
        "tokenizer": TEXT_OR_NULL,
    }

    def __init__(
        self,
        nlp: Language,
        model: Model,
        name: str,
        *,
        cfg: Dict[str, Any],
        scorer: Optional[Callable],
        units: Units = "auto",
    ) -> None:
        """Create the component.

        nlp (Language): The pipeline.
        model (Model[List[Doc], TaggerOutput]): A tagger.
        name (str): The name of the component.
        cfg (Dict[str, Any]): The settings that are saved in addition to labels, units and tokenizer.
        scorer (Optional[Callable]): The scoring function.
        units (str): See `LexNER`.
        """
        self.vocab = nlp.vocab
        self.model = model
        self.name = name
        self.cfg: Dict[str, Any] = {"labels": [], "units": None, "tokenizer": None, **cfg}
        check_settings(name, self.cfg, self.SETTINGS)
        self.scorer = scorer
        self.rules = RuleFollower(model)
        self.annotated_labels: Optional[Sequence[str]] = None  # the only labels annotated in training texts; None: all
        self.teacher: Optional[Teacher] = None  # also learn its probabilities
        self._rehearsal_model: Optional[Model] = None  # set by `nlp.resume_training`
        self._unit_reader = UnitReader(nlp, model, units)
        self._labels = TagLabels(self.cfg, model)

    @property
    def head(self) -> TaggerHead:
        """RETURNS (TaggerHead): The part that turns the model's output into losses, paths and span scores."""
        return self.model.attrs["head"]

    # Labels

    @property
    def labels(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels, in the order of their tags."""
        return self._labels.names

    @property
    def label_data(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels, as an argument of `initialize`."""
        return self.labels

    @property
    def scheme(self) -> TagScheme:
        """RETURNS (TagScheme): The tags of the labels."""
        return self._labels.scheme

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules apply to the component; None until it has labels."""
        return None

    def labels_changed(self) -> None:
        """Tell the owner of the rules which of them apply to the component."""
        self.rules.link.reader = self.rule_reader

    def add_label(self, label: str) -> int:
        """RETURNS (int): 0 if the label was already there, else 1. A trained model keeps what it has learned, and has
        yet to learn the new label. Raises ValueError for an invalid label, or if the tags of the model are fixed."""
        if not self._labels.add(label, self.name):
            return 0
        self.vocab.strings.add(label)
        self.labels_changed()
        if self.is_initialized:
            self.set_output(self.scheme.n_tags)
        return 1

    # Units

    @property
    def units(self) -> Units:
        """RETURNS (str): What is tagged: "characters" or "tokens"."""
        return self._unit_reader.choose(self.cfg)

    def unit_docs(self, docs: Iterable[Doc]) -> List[Doc]:
        """RETURNS (List[Doc]): The Docs that the model reads and whose tokens it tags."""
        return self._unit_reader.read(docs, self.cfg, self.name)

    def unit_examples(self, examples: Iterable[Example]) -> List[Example]:
        """RETURNS (List[Example]): The examples, with the predicted Docs replaced by their unit Docs."""
        return read_examples(examples, self.unit_docs)

    # Training

    @property
    def is_initialized(self) -> bool:
        """RETURNS (bool): Whether the model has weights."""
        return has_weights(self.model)

    def require_initialized(self) -> None:
        """Raise ValueError if the model has no weights yet."""
        if not self.is_initialized:
            raise ValueError(Errors.E109.format(name=self.name))

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        labels: Optional[Sequence[str]] = None,
    ) -> None:
        """Set the labels, check the annotation and initialize the model.

        get_examples (Callable[[], Iterable[Example]]): Returns the training examples.
        nlp (Optional[Language]): The pipeline. The rules of its lexicons are checked once the labels are known.
        labels (Optional[Sequence[str]]): The labels; by default those of the examples, sorted.
        """
        self._unit_reader.settle(self.cfg, nlp)
        examples = self._checked(get_examples)
        found = sorted(self.find_labels(unit for one in examples for unit in self.unit_examples([one])))
        for label in self._labels.choose(found, labels, self.name):
            self.add_label(label)
        initialize_model(self.model, lambda: self._docs(get_examples), self.scheme.n_tags, self.name)
        for matcher in find_matchers(nlp).values() if nlp is not None else ():
            matcher.check_rules()

    def _checked(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Example]:
        """YIELDS (Example): The examples, checked as by spaCy's `validate_get_examples`, which would read them all
        once more by itself. Raises TypeError."""
        method = f"{type(self).__name__}.initialize"
        examples = get_examples() if callable(get_examples) else ()
        if not examples:
            validate_get_examples(get_examples, method)  # raises
        for example in examples:
            validate_examples([example], method)
            yield example

    def _docs(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Doc]:
        return (doc for example in get_examples() for doc in self.unit_docs([example.predicted]))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """As `TrainablePipe.update`: learn from a batch. Without an optimizer, gradients are kept for
        `finish_update`."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        self.require_initialized()
        examples = self.unit_examples(examples)
        set_dropout_rate(self.model, drop)
        outputs, backprop = self.model.begin_update([example.predicted for example in examples])
        loss, d_outputs = self.get_loss(examples, outputs)
        backprop(d_outputs)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(self, examples: Iterable[Example], scores: TaggerOutput) -> Tuple[float, TaggerOutput]:
        """RETURNS (Tuple[float, TaggerOutput]): The loss of a batch, and its gradient with respect to the model's
        output."""
        examples = self.unit_examples(examples)
        allowed = [self.training_constraint(example.predicted) for example in examples]
        gold = [self.gold(example) for example in examples]
        if self.annotated_labels is not None:
            gold = [open_labels(mask, self.labels, self.annotated_labels) for mask in gold]
        incorrect = [self.incorrect(example) for example in examples]
        loss, d_scores = self.head.loss(scores, allowed, gold, incorrect)
        if self.teacher is not None:
            docs = [example.predicted for example in examples]
            loss, d_scores = add((loss, d_scores), self.teacher.loss(self.head, docs, self.labels, allowed, scores))
        if not abs(loss) < float("inf"):
            raise ValueError(Errors.E910.format(name=self.name))
        return loss, d_scores

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights, see `tagger_model.finish_update`."""
        finish_update(self.model, sgd)

    def rehearse(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """As `TrainablePipe.rehearse`: keep the model's predictions on texts, annotated or not, close to what they were
        when `nlp.resume_training` was called. Tokens that were outside then may have a label added since."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        docs = self.unit_docs([example.predicted for example in examples])
        if not any(map(len, docs)):
            return losses
        require_vectors(self.model, docs, self.name)
        loss, backprop = recall(self._rehearsal_model, self.model, docs, self.training_constraint, drop)
        backprop()
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    # Documents

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """YIELDS (Doc): The Docs of a stream, in order. Each failing Doc is passed to the error handler."""
        handle_error = partial(self.get_error_handler(), self.name, self)
        return annotate_stream(stream, batch_size, self.predict, self.annotate, handle_error)

    def annotate(self, doc: Doc, prediction: PredictionT) -> Doc:
        """RETURNS (Doc): The Doc with a prediction written to it, or a new one that replaces it."""
        self.set_annotations([doc], [prediction])
        return doc

    # What a subclass defines

    def predict(self, docs: Iterable[Doc]) -> List[PredictionT]:
        """RETURNS (List[PredictionT]): A prediction for each Doc, never None."""
        raise NotImplementedError

    def find_labels(self, examples: Iterable[Example]) -> Iterable[str]:
        """RETURNS (Iterable[str]): The labels of the training examples. All examples are read, once."""
        raise NotImplementedError

    def training_constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that tokens may have whatever the annotation, [n_tokens, n_tags]."""
        raise NotImplementedError

    def gold(self, example: Example) -> Bools2d:
        """RETURNS (Bools2d): The tags compatible with the annotation, [n_tokens, n_tags]."""
        raise NotImplementedError

    def incorrect(self, example: Example) -> List[TagSpan]:
        """RETURNS (List[TagSpan]): Spans known to be wrong."""
        return []

    # Files

    def check_loaded(self) -> None:
        """Raise ValueError unless labels, units and weights fit together."""
        output = self.model.get_ref("output_layer")
        if self.is_initialized and not self._labels.are_fixed and output.get_dim("nO") != self.scheme.n_tags:
            raise ValueError(
                f"{len(self.labels)} labels need {self.scheme.n_tags} tags, the model has {output.get_dim('nO')}"
            )
        self.labels_changed()
        self._unit_reader.check_loaded(self.cfg, self.name)
