"""The trainable pipe `lex_segmenter`: characters to words, with or without their parts of speech."""

import logging
from typing import Any, Callable, ClassVar, Dict, Iterable, List, Literal, Optional, Sequence, Set

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from thinc.api import Model

from ...candidates.unit_docs import has_units, is_space
from ...lexicon.rules import FORCE, PREFER, RuleReader
from ...tagging.spans.tag_scheme import Bools2d, UnknownLabelError
from ...tagging.spans.word_borders import UNKNOWN, border_tags, fixed_borders
from ..extensions import add_extension
from ..gold_report import GoldReport
from ..sequence_tagger import SequenceTagger
from ..settings import HASHES, Setting, one_of
from ..tagger_model import predict_tags
from .constraints import WORD, Constraints, allowed_tags, apply_word_rules, kept_edges
from .gold_words import CONSEQUENCES, gold_words, survey_words
from .parts_of_speech import PARTS_OF_SPEECH, PartOfSpeech
from .retokenize import check_order, merge_tokens
from .word_search import Segmentation, find_words

logger = logging.getLogger(__name__)
DEFAULT_MODEL = {
    "@architectures": "spacy-lexner.CRFTagger.v1",
    "dropout": 0.0,
    "tok2vec": {
        "@architectures": "spacy-lexner.FLAT.v1",
        "width": 160,
        "sublayers": {"residual": "input", "shared_norm": False, "inner_dropout": 0.15},
    },
}


@Language.factory(
    "lex_segmenter",
    assigns=["token.pos", "token.tag", "doc.spans", "doc._.lex_segmentation"],
    retokenizes=True,
    default_config={"model": DEFAULT_MODEL, "scorer": {"@scorers": "spacy-lexner.lex_segmenter_scorer.v1"}},
    default_score_weights={
        "word_f": 0.5,
        "word_p": 0.0,
        "word_r": 0.0,
        "word_oov_r": 0.0,
        "word_pos_f": 0.5,
        "word_pos_p": 0.0,
        "word_pos_r": 0.0,
        "word_pos_per_type": None,
    },
)
class LexSegmenter(SequenceTagger[Segmentation]):
    """Find words and their parts of speech: the most probable ones given the borders known in any text (see
    `tagging.spans.word_borders`), the edges of the Doc's entities and sentences, and the rules of words in the lexicon
    of a `lex_matcher` (see `lexicon.rules`).

    With `retokenize` the input is a Doc in characters and the output a new Doc in words (see
    `retokenize.merge_tokens`). `doc._.lex_segmentation` counts the words that the model did not decide;
    `doc._.lex_conflicts` has the rules that could not be followed.
    """

    SETTINGS: ClassVar[Dict[str, Setting]] = {
        **SequenceTagger.SETTINGS,
        "known_words": HASHES,
        "pos": one_of([*PARTS_OF_SPEECH]),
    }

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Model,
        *,
        scorer: Optional[Callable],
        pos: Optional[Literal["pos", "tag"]] = "pos",
        retokenize: bool = True,
        spans_key: str = "lex_words",
        keep_spans: List[str] = [],  # noqa: B006 (never changed)
    ) -> None:
        """Create the component.

        nlp (Language): The pipeline.
        name (str): The name of the component.
        model (Model[List[Doc], TaggerOutput]): A tagger, such as `spacy-lexner.CRFTagger.v1`.
        scorer (Optional[Callable]): The scoring function.
        pos (Optional[str]): The part of speech to learn and set: "pos", the universal one of `token.pos_`; "tag", the
            fine-grained one of `token.tag_`; None for words only.
        retokenize (bool): Merge the tokens into words. Otherwise the words are only written to `doc.spans`.
        spans_key (str): The key of the words in `doc.spans`.
        keep_spans (List[str]): Keys of `doc.spans` whose spans, like entities, no word may cut.
        """
        # Settings fixed by training are saved; the others come from the config, which may be overridden on loading.
        cfg = {"known_words": [], "labels": [] if pos else [WORD], "pos": pos}
        super().__init__(nlp, model, name, cfg=cfg, scorer=scorer)
        self.retokenize = retokenize
        self.spans_key = spans_key
        self.keep_spans = tuple(keep_spans)
        self.gold_report = GoldReport()  # of words that cannot be learned as they are
        self._warned_of: Set[str] = set()  # keys of `doc.spans`
        self.labels_changed()
        add_extension(Doc, "lex_segmentation", default=None)

    @property
    def part(self) -> Optional[PartOfSpeech]:
        """The part of speech that is learned; None for words only."""
        return PARTS_OF_SPEECH.get(self.cfg["pos"])

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules apply to the component: those with one of its labels or with
        WORD, which means any of them, and those that force or prefer a word without a label. None until it has
        labels."""
        if not self.labels:
            return None
        return RuleReader(self.name, frozenset(self.labels), frozenset([FORCE, PREFER]), any_label=WORD)

    def check_loaded(self) -> None:
        super().check_loaded()
        if self.part is not None:
            for label in self.labels:
                self.part.check(label)

    # Documents

    def unit_docs(self, docs: Iterable[Doc]) -> List[Doc]:
        """RETURNS (List[Doc]): The same Docs. Raises ValueError for one whose tokens are not characters."""
        docs = list(docs)
        for doc in docs:
            if not has_units(doc):
                token = next(token.text for token in doc if len(token) > 1 and not token.is_space)
                raise ValueError(
                    f"{self.name} makes words from characters, but this Doc has tokens of several: {token!r} in "
                    f"{doc.text[:40]!r}. Give the pipeline a character tokenizer: in the config [nlp.tokenizer] "
                    '@tokenizers = "spacy-lexner.CharTokenizer.v1". If the Doc has been through the pipeline before, '
                    "run it on the text: nlp(doc.text)."
                )
        return docs

    def __call__(self, doc: Doc) -> Doc:
        """RETURNS (Doc): With `retokenize` a Doc in words, otherwise the same Doc."""
        return next(self.pipe([doc]), doc)

    def predict(self, docs: Iterable[Doc]) -> List[Segmentation]:
        """RETURNS (List[Segmentation]): The words of each Doc. Raises ValueError if rules leave no path."""
        docs = self.unit_docs(docs)
        self.require_initialized()
        if not any(len(doc) for doc in docs):
            return [Segmentation.empty() for _ in docs]
        with self.rules.link.pinned():
            constraints = []
            for doc, (words, matcher) in zip(docs, self.rules.find(docs)):
                borders, edges = fixed_borders(doc), kept_edges(doc, self.keep_spans)
                rules = apply_word_rules(doc, words, self.labels, borders, edges)
                constraints.append(Constraints(borders, edges, rules, matcher))
            outputs = predict_tags(self.model, docs, self.name)
        return find_words(self.head, outputs, docs, constraints, self.scheme, self.name)

    def set_annotations(self, docs: Iterable[Doc], scores: Iterable[Segmentation]) -> None:
        """Write words to `doc.spans`, labelled with their parts of speech. The tokens stay as they are."""
        key = self.spans_key
        for doc, (starts, labels, report, conflicts, matcher) in zip(docs, scores):
            rows = zip(starts.tolist(), [*starts[1:].tolist(), len(doc)], labels.tolist())
            spans = [Span(doc, start, end, label=self.labels[label]) for start, end, label in rows if label != UNKNOWN]
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans)
            doc._.lex_segmentation = {**report, "left_out_spans": {}}
            self.rules.report(doc, self.name, matcher, conflicts)

    def annotate(self, doc: Doc, prediction: Segmentation) -> Doc:
        """RETURNS (Doc): With `retokenize` a Doc in words, a new one if anything was merged; otherwise the same Doc."""
        if not self.retokenize:
            return super().annotate(doc, prediction)
        self.rules.report(doc, self.name, prediction.matcher, prediction.conflicts)
        left_out: Dict[str, int] = {}
        if len(prediction.starts) < len(doc):
            doc, left_out = merge_tokens(doc, prediction.starts)
        if self.part is not None:
            self.part.write(doc, self.labels, prediction.labels)
        doc._.lex_segmentation = {**prediction.report, "left_out_spans": left_out}
        for key in set(left_out) - self._warned_of:
            logger.warning(
                "%s: doc.spans[%r] has spans that do not begin and end with a word. They are left out, and counted in "
                "doc._.lex_segmentation. To keep them, add %r to keep_spans. This warning is shown once.",
                *(self.name, key, key),
            )
        self._warned_of.update(left_out)
        return doc

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        labels: Optional[Sequence[str]] = None,
    ) -> None:
        """As `SequenceTagger.initialize`, after a check of the order of the components. By default the labels are the
        parts of speech of the examples."""
        if nlp is not None and self.retokenize:
            check_order(nlp, self.name)
        super().initialize(get_examples, nlp=nlp, labels=labels)

    def find_labels(self, examples: Iterable[Example]) -> Set[str]:
        """RETURNS (Set[str]): The parts of speech of the examples. Saves the hashes of their words, so that scores can
        tell new words. Warns of words that cannot be learned as they are."""
        try:
            labels, known_words, self.gold_report = survey_words(examples, self.part)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        self.cfg["known_words"] = known_words.tolist()
        if message := self.gold_report.message("words", CONSEQUENCES):
            logger.warning("%s: %s", self.name, message)
        return labels if self.part is not None else {WORD}

    def training_constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags compatible with the borders known in any text."""
        return allowed_tags(doc, fixed_borders(doc), len(self.labels))

    def gold(self, example: Example) -> Bools2d:
        """RETURNS (Bools2d): The tags that agree with the annotation. Raises ValueError for an unknown label."""
        doc = example.predicted
        found = gold_words(example, fixed_borders(doc), self.part)
        labels = np.zeros(len(doc), dtype=np.int64)
        if self.part is not None:
            numbers, inverse = np.unique(found.tags, return_inverse=True)
            labels = np.array([self._index(number, example.reference) for number in numbers.tolist()], "i8")[inverse]
        return border_tags(found.borders, labels, is_space(doc), len(self.labels))

    def _index(self, number: int, reference: Doc) -> int:
        """The label index of a part of speech, given as spaCy's number."""
        if not number or self.part is None:
            return UNKNOWN
        label = self.part.label(number, reference.vocab.strings)
        try:
            return self.scheme.index(label)
        except UnknownLabelError:
            raise ValueError(
                f"{self.name}: the annotation of {reference.text[:40]!r} has the part of speech {label!r}, which the "
                f"component did not have when it was initialized (its labels: {', '.join(self.labels)}). Either "
                f"initialize with it, or call nlp.get_pipe({self.name!r}).add_label({label!r}) before the update."
            ) from None

    def add_label(self, label: str) -> int:
        """RETURNS (int): 0 if the part of speech was already there, else 1. Raises ValueError for an unknown one."""
        if isinstance(label, str) and label not in self.labels:
            if self.part is None:
                raise ValueError(f"{self.name}: with pos = null {WORD!r} is the only label; cannot add {label!r}.")
            self.part.check(label)
        return super().add_label(label)

    def set_output(self, nO: int) -> None:
        """Set the number of tags of the model. New tags start from those of the first label."""
        self.model.attrs["resize_output"](self.model, nO, templates=(1, 2, 3, 4))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The scorer's result; it is told where the words are and which are known."""
        return super().score(examples, **{"retokenize": self.retokenize, "spans_key": self.spans_key, **kwargs})
