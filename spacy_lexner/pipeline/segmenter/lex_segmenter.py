"""The trainable pipe `lex_segmenter`: characters to words, with or without their parts of speech."""

import logging
from typing import Any, Callable, Dict, Iterable, List, Literal, Optional, Sequence, Set

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ...lexicon.rules import FORCE, PREFER, RuleReader
from ...tagging.spans.tag_scheme import Bools2d
from ...tagging.spans.word_borders import UNKNOWN, fixed_borders
from ..extensions import install_segmentation_extension
from .decree_words import WORD, decree_words
from .gold_words_report import GoldWordsReport
from .retokenize import kept_edges, merge_tokens
from .scorer import lex_segmenter_score
from .word_search import Limits, Segmentation, allow, find_words
from .word_training import WordTraining

logger = logging.getLogger(__name__)

DEFAULT_CONFIG = """
[model]
@architectures = "spacy-lexner.CRFTagger.v1"
dropout = 0.0

[model.tok2vec]
@architectures = "spacy-lexner.FLAT.v1"
width = 160

[model.tok2vec.sublayers]
residual = "input"
shared_norm = false
inner_dropout = 0.15
"""
DEFAULT_MODEL = Config().from_str(DEFAULT_CONFIG)["model"]


@Language.factory(
    "lex_segmenter",
    assigns=["token.pos", "token.tag", "doc.spans", "doc._.lex_segmentation"],
    retokenizes=True,
    default_config={
        "model": DEFAULT_MODEL,
        "pos": "pos",
        "retokenize": True,
        "spans_key": "lex_words",
        "keep_spans": [],
        "scorer": {"@scorers": "spacy-lexner.lex_segmenter_scorer.v1"},
    },
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
def make_lex_segmenter(
    nlp: Language,
    name: str,
    model: Model,
    pos: Optional[Literal["pos", "tag"]],
    retokenize: bool,
    spans_key: str,
    keep_spans: List[str],
    scorer: Optional[Callable],
) -> "LexSegmenter":
    """Make a `lex_segmenter` component.

    nlp (Language): The pipeline.
    name (str): The name of the component.
    model (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): A tagger, such as `spacy-lexner.CRFTagger.v1`.
    pos (Optional[str]): The part of speech that is learned and set: "pos", the universal one of `token.pos_`; "tag",
        the fine-grained one of `token.tag_`; None for words alone.
    retokenize (bool): Merge the tokens into words. Otherwise the words are only written to `doc.spans`.
    spans_key (str): Their key there.
    keep_spans (List[str]): Keys of `doc.spans` whose spans no word may cut, as with entities.
    scorer (Optional[Callable]): The scoring function.
    RETURNS (LexSegmenter): The component.
    """
    return LexSegmenter(
        nlp.vocab,
        model,
        name,
        pos=pos,
        retokenize=retokenize,
        spans_key=spans_key,
        keep_spans=keep_spans,
        scorer=scorer,
    )


class LexSegmenter(WordTraining):
    """Find words and their parts of speech: those that are most probable given what is known of any text
    (`spans.word_borders`), the edges of entities and sentences that the Doc has, and the rules of words in the lexicon
    of a `lex_matcher` (`lexicon.rules`).

    With `retokenize` a Doc in characters goes in, and another in words comes out (`retokenize.merge_tokens`).
    `doc._.lex_segmentation` counts what was decided otherwise than by the model, and `doc._.lex_conflicts` tells which
    rules could not be followed.

    vocab (Vocab): The vocabulary.
    model (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): A tagger.
    name (str): The name of the component.
    pos, retokenize, spans_key, keep_spans, scorer: See `make_lex_segmenter`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "lex_segmenter",
        *,
        pos: Optional[Literal["pos", "tag"]] = "pos",
        retokenize: bool = True,
        spans_key: str = "lex_words",
        keep_spans: Sequence[str] = (),
        scorer: Optional[Callable] = lex_segmenter_score,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        # What training settles is saved; the rest comes from the config, which may be overridden at loading.
        self.cfg = {"known_words": [], "labels": [] if pos else [WORD], "pos": pos}
        self.retokenize = retokenize
        self.spans_key = spans_key
        self.keep_spans = tuple(keep_spans)
        self.scorer = scorer
        self.gold_report = GoldWordsReport()
        self._told_of: Set[str] = set()
        self.tell_labels()
        install_segmentation_extension()

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules concern the component: those with one of its labels or with WORD,
        which means any of them, and those of words that are forced or preferred without any label. None as long as it
        has no labels."""
        if not self.labels:
            return None
        return RuleReader(self.name, frozenset(self.labels), frozenset([FORCE, PREFER]), any_label=WORD)

    # Documents

    def __call__(self, doc: Doc) -> Doc:
        """Find the words of a Doc.

        doc (Doc): The Doc.
        RETURNS (Doc): With `retokenize` a Doc in words, otherwise the same Doc.
        """
        return next(self.pipe([doc]), doc)

    def predict(self, docs: Iterable[Doc]) -> List[Segmentation]:
        """Find the words of Docs without changing these.

        docs (Iterable[Doc]): The Docs.
        RETURNS (List[Segmentation]): The words of each.
        """
        docs = list(docs)
        self._require_initialized()
        if not any(len(doc) for doc in docs):
            return [Segmentation.empty() for _ in docs]
        with self.rules_link.pinned():
            limits = self._limits(docs)
            outputs = self.model.predict(docs)
        return find_words(self.model.attrs["head"], outputs, docs, limits, self.scheme, self.name)

    def _limits(self, docs: Sequence[Doc]) -> List[Limits]:
        limits = []
        for doc, (words, matcher) in zip(docs, self.find_rules(docs)):
            borders, edges = fixed_borders(doc), kept_edges(doc, self.keep_spans)
            rules = decree_words(doc, words, self.labels, borders, edges)
            limits.append(Limits(borders, edges, rules, matcher))
        return limits

    def set_annotations(self, docs: Iterable[Doc], scores: Iterable[Segmentation]) -> None:
        """Write words to `doc.spans`, labelled with their parts of speech. The tokens stay as they are.

        docs (Iterable[Doc]): The Docs.
        scores (Iterable[Segmentation]): The result of `predict`.
        """
        key = self.spans_key
        for doc, (starts, labels, report, conflicts, matcher) in zip(docs, scores):
            rows = zip(starts.tolist(), [*starts[1:].tolist(), len(doc)], labels.tolist())
            spans = [Span(doc, start, end, label=self.labels[label]) for start, end, label in rows if label != UNKNOWN]
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans)
            doc._.lex_segmentation = {**report, "left_out_spans": {}}
            self.note_state(doc, matcher, conflicts)

    def annotate(self, doc: Doc, prediction: Segmentation) -> Doc:
        """Give a Doc its words.

        doc (Doc): The Doc.
        prediction (Segmentation): What `predict` gave for it.
        RETURNS (Doc): With `retokenize` a Doc in words, which is a new one if there was anything to merge; otherwise
            the same Doc.
        """
        if not self.retokenize:
            return super().annotate(doc, prediction)
        self.note_state(doc, prediction.matcher, prediction.conflicts)
        left_out: Dict[str, int] = {}
        if len(prediction.starts) < len(doc):
            doc, left_out = merge_tokens(doc, prediction.starts)
        if self.part is not None:
            self.part.write(doc, self.labels, prediction.labels)
        doc._.lex_segmentation = {**prediction.report, "left_out_spans": left_out}
        for key in set(left_out) - self._told_of:
            logger.warning(
                "%s: doc.spans[%r] has spans that do not begin and end with a word; they are left out, and counted in "
                "doc._.lex_segmentation. To keep them name %r in keep_spans. This is told once.",
                *(self.name, key, key),
            )
        self._told_of.update(left_out)
        return doc

    # Constraints

    def constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that agree with what is known of any text, and with the edges of entities and
        sentences. Every token is in a word, but white space in none."""
        return allow(doc, Limits(fixed_borders(doc), kept_edges(doc, self.keep_spans)).all_borders, len(self.labels))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score examples.

        examples (Iterable[Example]): Predicted and annotated Docs.
        RETURNS (Dict[str, Any]): What the scorer gives, which is told where the words are and which ones are known.
        """
        return super().score(examples, **{"retokenize": self.retokenize, "spans_key": self.spans_key, **kwargs})
