"""The trainable pipe `lex_ner`: entities by sequence tagging, with exact span probabilities."""

from typing import Callable, Iterable, List, Optional, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ...lexicon.rules import FORBID, RuleReader
from ...tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan
from ...tagging.spans.word_borders import is_space
from ..extensions import install_alternatives_extension, install_score_extension
from .alternatives import set_alternatives
from .calibration import Threshold
from .entity_confidence import EntityConfidence
from .entity_search import ENTITY, NOTHING, Limits, Prediction, Wanted, decree_entities, find_entities, score_entities
from .entity_training import EntityTraining
from .entity_words import attend_words, install_words_extension, note_attended
from .gold_entities import GoldReport
from .present_entities import blocked_spans, present_entities
from .scorer import lex_ner_score
from .uncertain_spans import check_doubt, set_uncertain

DEFAULT_CONFIG = """
[model]
@architectures = "spacy-lexner.CRFTagger.v1"
dropout = 0.0
normalization = "token"

[model.tok2vec]
@architectures = "spacy-lexner.FLAT.v1"
"""
DEFAULT_MODEL = Config().from_str(DEFAULT_CONFIG)["model"]


@Language.factory(
    "lex_ner",
    assigns=[
        "doc.ents",
        "doc.spans",
        "token.ent_iob",
        "token.ent_type",
        "span._.lex_score",
        "doc._.lex_alternatives",
        "doc._.lex_conflicts",
        "span._.lex_words",
    ],
    default_config={
        "model": DEFAULT_MODEL,
        "incorrect_spans_key": None,
        "overwrite": False,
        "rule_labels": [],
        "n_alternatives": 0,
        "uncertain": None,
        "threshold": 0.5,
        "note_words": False,
        "scorer": {"@scorers": "spacy-lexner.lex_ner_scorer.v1"},
    },
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_lex_ner(
    nlp: Language,
    name: str,
    model: Model,
    incorrect_spans_key: Optional[str],
    overwrite: bool,
    rule_labels: List[str],
    n_alternatives: int,
    uncertain: Optional[List[float]],
    threshold: Threshold,
    note_words: bool,
    scorer: Optional[Callable],
) -> "LexNER":
    """Make a `lex_ner` component.

    nlp (Language): The pipeline.
    name (str): The name of the component.
    model (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): A tagger, such as `spacy-lexner.CRFTagger.v1`.
    incorrect_spans_key (Optional[str]): Key of the span group of reference Docs that holds spans which are no entities.
    overwrite (bool): Replace the entities and blocked tokens that a Doc has. Otherwise they are kept, and what is found
        around them is what is most probable given them.
    rule_labels (List[str]): Labels that the model does not have, and that words of the lexicon may be forced to.
    n_alternatives (int): The number of most probable readings that `doc._.lex_alternatives` holds.
    uncertain (Optional[List[float]]): Two probabilities: spans between them, the bounds included, are written to
        `doc.spans["lex_uncertain"]`, whether they are entities or not; null for none.
    threshold (Union[float, Dict[str, float]]): Entities with a lower score are dropped; one number, or one for each
        label.
    note_words (bool): Note in `ent._.lex_words` the candidate words that each entity rests on, with the attention that
        it pays to them; for that the encoder runs a second time. `pipeline.explain` tells more, for single Docs.
    scorer (Optional[Callable]): The scoring function.
    RETURNS (LexNER): The component.
    """
    return LexNER(
        nlp.vocab,
        model,
        name,
        incorrect_spans_key=incorrect_spans_key,
        overwrite=overwrite,
        rule_labels=rule_labels,
        n_alternatives=n_alternatives,
        uncertain=uncertain,
        threshold=threshold,
        note_words=note_words,
        scorer=scorer,
    )


class LexNER(EntityConfidence, EntityTraining):
    """Find entities. Each gets a confidence, `ent._.lex_score`: the probability that the model gives to exactly this
    span with this label, summed over everything that the rest of the text may be; in a calibrated pipeline (`spacy
    lexner calibrate`) scaled so that it says how often such entities are right.

    The rules of words in the lexicon of a `lex_matcher` are followed (see `lexicon.rules`): what is found is the most
    probable under them, and so are probabilities. `doc._.lex_conflicts` tells which rules could not be followed.

    vocab (Vocab): The vocabulary.
    model (Model[List[Doc], Tuple[List[Floats2d], Floats2d]]): A tagger.
    name (str): The name of the component.
    incorrect_spans_key, overwrite, rule_labels, n_alternatives, uncertain, threshold, note_words, scorer: See
        `make_lex_ner`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "lex_ner",
        *,
        incorrect_spans_key: Optional[str] = None,
        overwrite: bool = False,
        rule_labels: Sequence[str] = (),
        n_alternatives: int = 0,
        uncertain: Optional[Sequence[float]] = None,
        threshold: Threshold = 0.5,
        note_words: bool = False,
        scorer: Optional[Callable] = lex_ner_score,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.cfg = {"incorrect_spans_key": incorrect_spans_key, "labels": [], "overwrite": overwrite}
        self.set_confidence(None, threshold)
        if n_alternatives < 0:
            raise ValueError(f"n_alternatives is {n_alternatives}; expected the number of readings, or 0 for none.")
        self.rule_labels = tuple(rule_labels)
        self.n_alternatives = n_alternatives
        self.doubt = check_doubt(uncertain)
        self.note_words = note_words
        self.scorer = scorer
        self.gold_report = GoldReport()
        self.tell_labels()
        install_score_extension()
        install_alternatives_extension()
        install_words_extension()

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules concern the component: those with one of its labels, or with
        ENTITY, which means any of them, and those of words that are forbidden without a label. None as long as it has
        no labels."""
        labels, new = frozenset(self.labels), frozenset(self.rule_labels)
        any_label = "" if ENTITY in labels | new else ENTITY
        return RuleReader(self.name, labels, frozenset([FORBID]), new, any_label) if labels else None

    @property
    def rule_scheme(self) -> TagScheme:
        """RETURNS (TagScheme): The tags of all labels, behind those of the model those that only rules use."""
        return TagScheme((*self.labels, *self._new_labels))

    @property
    def _new_labels(self) -> List[str]:
        return [label for label in self.rule_labels if label not in self.labels]

    def predict(self, docs: Iterable[Doc]) -> List[Prediction]:
        """Find entities in Docs without changing these.

        docs (Iterable[Doc]): The Docs.
        RETURNS (List[Prediction]): The entities of each, without those that it has already and keeps. Raises ValueError
            where the rules of words leave no reading.
        """
        docs = list(docs)
        self._require_initialized()
        if not any(len(doc) for doc in docs):
            return [NOTHING for _ in docs]
        with self.rules_link.pinned():
            limits = self._limits(docs)
            outputs = self.model.predict(docs)
            attended = attend_words(self.model, docs) if self.note_words else None
        wanted = Wanted(self.n_alternatives, self.doubt)
        head, scheme = self.model.attrs["head"], self.rule_scheme
        found = find_entities(head, outputs, docs, limits, scheme, self.name, wanted)
        scored = self.give_scores(found, [known.rules.spans.forced for known in limits])
        if attended is not None:
            scored = [each._replace(attended=words) for each, words in zip(scored, attended)]
        return scored

    def score_spans(self, docs: Iterable[Doc], spans: Sequence[Sequence[Tuple[int, int, str]]]) -> List[List[float]]:
        """Say which score spans would have as entities, found or not.

        docs (Iterable[Doc]): The Docs.
        spans (Sequence[Sequence[Tuple[int, int, str]]]): For each Doc start, end (exclusive) and label of spans.
        RETURNS (List[List[float]]): Their scores. Raises ValueError for a label that the model does not have.
        """
        docs = list(docs)
        self._require_initialized()
        with self.rules_link.pinned():
            limits = self._limits(docs)
            outputs = self.model.predict(docs)
        probabilities = score_entities(self.model.attrs["head"], outputs, limits, self.scheme, spans)
        return self.scale(probabilities, spans, [known.rules.spans.forced for known in limits])

    def _limits(self, docs: Sequence[Doc]) -> List[Limits]:
        limits = []
        for doc, (words, matcher) in zip(docs, self.find_rules(docs)):
            kept = self._kept(doc)
            rules = decree_entities(doc, words, self.labels, self._new_labels, kept, self._blocked(doc))
            limits.append(Limits(self.constraint(doc), kept, rules, matcher))
        return limits

    def set_annotations(self, docs: Iterable[Doc], scores: Iterable[Prediction]) -> None:
        """Write entities and their scores to Docs.

        docs (Iterable[Doc]): The Docs.
        scores (Iterable[Prediction]): The result of `predict`.
        """
        install_score_extension()
        for doc, prediction in zip(docs, scores):
            kept, blocked = self._kept(doc), self._blocked(doc)
            if self.cfg["overwrite"]:
                for ent in doc.ents:
                    ent._.lex_score = None
            spans = [Span(doc, entity.start, entity.end, label=entity.label) for entity in prediction.entities]
            doc.set_ents([*kept, *spans], blocked=blocked, default="outside")
            for span, entity in zip(spans, prediction.entities):
                span._.lex_score = entity.score
            if self.n_alternatives:
                set_alternatives(doc, prediction.readings)
            if self.doubt is not None:
                set_uncertain(doc, prediction.uncertain)
            self.note_state(doc, prediction.matcher, prediction.conflicts)
            if prediction.attended is not None:
                note_attended(doc, prediction.attended)

    def constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that tokens may have: none that begin or end an entity on white space, and,
        unless `overwrite` is set, none that contradict the entities and blocked tokens of the Doc."""
        spans, outside = [], [(span.start, span.end) for span in self._blocked(doc)]
        for ent in self._kept(doc):
            if ent.label_ in self.cfg["labels"]:
                spans.append(TagSpan(ent.start, ent.end, self.scheme.index(ent.label_)))
            else:
                outside.append((ent.start, ent.end))
        return self.scheme.constraint(is_space(doc), spans, outside)

    def _kept(self, doc: Doc) -> List[Span]:
        return [] if self.cfg["overwrite"] else present_entities(doc)

    def _blocked(self, doc: Doc) -> List[Span]:
        return [] if self.cfg["overwrite"] else blocked_spans(doc)
