"""The trainable pipe `lex_ner`: entities by sequence tagging, with exact span probabilities."""

import logging
from collections import Counter
from typing import Callable, ClassVar, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ...candidates.unit_docs import is_space
from ...lexicon.rules import FORBID, RuleReader
from ...tagging.spans.head import PathSearch, TaggerOutput
from ...tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan, UnknownLabelError
from ..entity_words import add_words_extension, attend_words, note_attended
from ..extensions import add_extension
from ..gold_report import GoldReport
from ..sequence_tagger import SequenceTagger
from ..settings import LABELS, Setting, check_settings
from ..tagger_model import predict_tags
from ..units import Units
from .calibration import CALIBRATION, THRESHOLD, Calibration, Confidence, Threshold, check_threshold
from .constraints import ENTITY, Constraints, allowed_tags, apply_entity_rules, kept_spans
from .entity_search import (
    NOTHING,
    Entity,
    Place,
    Prediction,
    check_bounds,
    find_entities,
    get_alternatives,
    score_entities,
    search_paths,
    set_alternatives,
)
from .entity_writer import AlignmentMode, EntityWriter, move_to_units
from .gold_entities import CONSEQUENCES, gold_tags, incorrect_spans, narrow, survey_entities

logger = logging.getLogger(__name__)
DEFAULT_MODEL = {
    "@architectures": "spacy-lexner.CRFTagger.v1",
    "dropout": 0.0,
    "normalization": "token",
    "tok2vec": {"@architectures": "spacy-lexner.FLAT.v1"},
}


@Language.factory(
    "lex_ner",
    assigns=[
        "doc.ents",
        "doc.spans",
        "token.ent_iob",
        "token.ent_type",
        "span._.lex_score",
        "span._.lex_start",
        "span._.lex_end",
        "doc._.lex_alternatives",
        "doc._.lex_conflicts",
        "span._.lex_words",
    ],
    default_config={"model": DEFAULT_MODEL, "scorer": {"@scorers": "spacy-lexner.lex_ner_scorer.v1"}},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
class LexNER(SequenceTagger[Prediction]):
    """Find entities. Each gets a confidence, `ent._.lex_score`: the probability of exactly this span with this label,
    summed over all paths that contain it; in a calibrated pipeline (`spacy lexner calibrate`) scaled to how often such
    entities are right.

    Entities and probabilities follow the rules of words in the lexicon of a `lex_matcher` (see `lexicon.rules`).
    `doc._.lex_conflicts` has the rules that could not be followed.
    """

    SETTINGS: ClassVar[Dict[str, Setting]] = {
        **SequenceTagger.SETTINGS,
        "threshold": THRESHOLD,
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Model,
        *,
        scorer: Optional[Callable],
        incorrect_spans_key: Optional[str] = None,
        overwrite: bool = False,
        rule_labels: List[str] = [],  # noqa: B006 (never changed)
        n_alternatives: int = 0,
        uncertain: Optional[List[float]] = None,
        threshold: Threshold = 0.5,
        note_words: bool = False,
        units: Units = "auto",
        alignment_mode: AlignmentMode = "expand",
    ) -> None:
        """Create the component.

        nlp (Language): The pipeline.
        name (str): The name of the component.
        model (Model[List[Doc], TaggerOutput]): A tagger, such as `spacy-lexner.CRFTagger.v1`.
        scorer (Optional[Callable]): The scoring function.
        incorrect_spans_key (Optional[str]): Key of the span group in reference Docs with spans that are no entities.
        overwrite (bool): Replace the entities and blocked tokens that a Doc has. Otherwise they are kept, and the
            entities around them are the most probable ones given them.
        rule_labels (List[str]): Labels that the model lacks but rules may force.
        n_alternatives (int): Number of the most probable paths in `doc._.lex_alternatives`.
        uncertain (Optional[List[float]]): Two probabilities: spans between them, bounds included, are written to
            `doc.spans["lex_uncertain"]`, whether they are entities or not; null for none.
        threshold (Union[float, Dict[str, float]]): Entities with a lower score are dropped; one number, or one per
            label (0 for the labels left out). It is saved with the calibration, so once saved it is changed by
            `set_confidence`, not by a config.
        note_words (bool): Record in `ent._.lex_words` the candidate words that each entity rests on, with its attention
            to them, which runs the encoder twice. `pipeline.explain` tells more about single Docs.
        units (str): What is tagged: "characters", whatever the tokens of a Doc are, or "tokens". "auto": characters in
            a language written without spaces, if the encoder is the component's own; settled at initialization.
        alignment_mode (str): What happens to an entity that does not begin and end with tokens: "expand" to all tokens
            it touches, "contract" to those wholly inside, "strict": it is dropped; "split": the tokens are split. In
            any case `ent._.lex_start` and `ent._.lex_end` are its characters. `alignment_counts` counts such entities;
            those without tokens of their own are in `doc.spans["lex_left_out"]`.
        """
        if n_alternatives < 0:
            raise ValueError(f"n_alternatives is {n_alternatives}; expected a number of paths, or 0 for none.")
        super().__init__(nlp, model, name, cfg={}, scorer=scorer, units=units)
        self.incorrect_spans_key = incorrect_spans_key
        self.overwrite = overwrite
        self.set_confidence(None, threshold)
        check_settings(name, {"rule_labels": rule_labels}, {"rule_labels": LABELS})
        self.rule_labels = tuple(rule_labels)
        self.n_alternatives = n_alternatives
        self.uncertain = check_bounds(uncertain)
        self.note_words = note_words
        self.writer = EntityWriter(name, alignment_mode)
        self.gold_report = GoldReport()  # of entities that cannot be learned as they are
        self.labels_changed()
        add_extension(Doc, "lex_alternatives", getter=get_alternatives)
        add_words_extension()

    # Tokens

    @property
    def alignment_counts(self) -> "Counter[str]":
        """RETURNS (Counter[str]): Number of entities moved to token borders, dropped for lack of tokens, or dropped
        because other entities have all their tokens."""
        return self.writer.counts

    # Confidence

    @property
    def calibration(self) -> Optional[Calibration]:
        """RETURNS (Optional[Calibration]): The map from probabilities to scores; None if they are the same."""
        return Confidence.from_cfg(self.cfg).calibration

    def set_confidence(self, calibration: Optional[Calibration], threshold: Threshold) -> None:
        """Set how scores are computed (None: they are the probabilities), and below which score entities are dropped.
        Raises ValueError, and changes nothing, for a threshold outside 0 to 1 or an invalid calibration."""
        stored = None if calibration is None else calibration.to_json()
        cfg = {"threshold": check_threshold(threshold), "calibration": stored}
        Confidence.from_cfg(cfg)
        self.cfg.update(cfg)

    # Rules

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules apply to the component: those with one of its labels or with
        ENTITY, which means any of them, and those that forbid a word without a label. None until it has labels."""
        labels, new = frozenset(self.labels), frozenset(self.rule_labels)
        any_label = "" if ENTITY in labels | new else ENTITY
        return RuleReader(self.name, labels, frozenset([FORBID]), new, any_label, cuts_latin=True) if labels else None

    @property
    def rule_scheme(self) -> TagScheme:
        """RETURNS (TagScheme): The tags of the labels, followed by those of the labels that only rules use."""
        return TagScheme((*self.labels, *(label for label in self.rule_labels if label not in self.labels)))

    # Documents

    def predict(self, docs: Iterable[Doc]) -> List[Prediction]:
        """RETURNS (List[Prediction]): The entities of each Doc, without those that it already has and keeps. Raises
        ValueError if rules leave no path."""
        docs = self.unit_docs(docs)
        self.require_initialized()
        if not any(len(doc) for doc in docs):
            return [NOTHING for _ in docs]
        with self.rules.link.pinned():
            constraints = self._constraints(docs)
            outputs = predict_tags(self.model, docs, self.name)
            attended = attend_words(self.model, docs) if self.note_words else [None] * len(docs)
        wanted = self.n_alternatives, self.uncertain
        found = find_entities(self.head, outputs, docs, constraints, self.rule_scheme, self.name, *wanted)
        confidence = Confidence.from_cfg(self.cfg)
        return [
            prediction._replace(entities=confidence.apply(prediction.entities, known.forced), attended=words)
            for prediction, known, words in zip(found, constraints, attended)
        ]

    def score_spans(self, docs: Iterable[Doc], spans: Sequence[Sequence[Place]]) -> List[List[float]]:
        """Compute the scores that spans would have as entities, whether or not they are found.

        docs (Iterable[Doc]): The Docs.
        spans (Sequence[Sequence[Tuple[int, int, str]]]): First token, end (exclusive) and label of the spans of each
            Doc.
        RETURNS (List[List[float]]): Their scores. Raises ValueError for a label that the model does not have, for a
            span without tokens, and unless there is a list of spans for each Doc.
        """
        docs = list(docs)
        if len(spans) != len(docs):
            raise ValueError(f"Got the spans of {len(spans)} Docs, and {len(docs)} Docs; expected a list for each Doc.")
        if not docs:
            return []
        unit_docs, constraints, outputs = self._read(docs)
        spans = [move_to_units(*row) for row in zip(docs, unit_docs, spans)]
        probabilities = score_entities(self.head, outputs, constraints, self.scheme, spans)
        confidence = Confidence.from_cfg(self.cfg)
        return [
            [confidence.score(Entity(*place, p), known.forced) for place, p in zip(places, own)]
            for places, own, known in zip(spans, probabilities, constraints)
        ]

    def search(self, docs: Iterable[Doc]) -> Tuple[List[Doc], PathSearch]:
        """RETURNS (Tuple[List[Doc], PathSearch]): Unit Docs, and the search for paths in them, under rules and around
        the entities that the Docs keep."""
        unit_docs, constraints, outputs = self._read(docs)
        return unit_docs, search_paths(self.head, outputs, constraints)

    def _read(self, docs: Iterable[Doc]) -> Tuple[List[Doc], List[Constraints], TaggerOutput]:
        self.require_initialized()
        unit_docs = self.unit_docs(docs)
        with self.rules.link.pinned():
            return unit_docs, self._constraints(unit_docs), predict_tags(self.model, unit_docs, self.name)

    def _constraints(self, docs: Sequence[Doc]) -> List[Constraints]:
        constraints, new = [], self.rule_scheme.labels[len(self.labels) :]
        for doc, (words, matcher) in zip(docs, self.rules.find(docs)):
            kept, blocked = kept_spans(doc, self.overwrite)
            rules = apply_entity_rules(doc, words, self.labels, new, kept, blocked)
            constraints.append(Constraints(allowed_tags(doc, self.scheme, kept, blocked), kept, rules, matcher))
        return constraints

    def set_annotations(self, docs: Iterable[Doc], scores: Iterable[Prediction]) -> None:
        """Write predictions to Docs: entities and their scores, alternatives, uncertain spans, words."""
        self.writer.component = self.name  # spaCy renames a component that it sources
        for doc, prediction in zip(docs, scores):
            conflicts = self.writer.write(doc, prediction, overwrite=self.overwrite)
            if self.n_alternatives:
                set_alternatives(doc, prediction.alternatives)
            if self.uncertain is not None:
                self.writer.write_uncertain(doc, prediction)
            self.rules.report(doc, self.name, prediction.matcher, conflicts)
            if prediction.attended is not None:
                note_attended(doc, prediction.read_from(doc), prediction.attended)

    # Training

    def find_labels(self, examples: Iterable[Example]) -> Set[str]:
        """RETURNS (Set[str]): The labels of the examples. Warns of entities that cannot be learned as they are."""
        labels, self.gold_report = survey_entities(examples)
        if message := self.gold_report.message("entities", CONSEQUENCES):
            logger.warning("%s: %s", self.name, message)
        threshold, known = self.cfg.get("threshold"), {*labels, *self.labels, *self.rule_labels}
        if unused := sorted(threshold.keys() - known) if isinstance(threshold, dict) else []:
            logger.warning("%s: no example has the labels that threshold names: %s", self.name, ", ".join(unused))
        return labels

    def training_constraint(self, doc: Doc) -> Bools2d:
        """RETURNS (Bools2d): The tags that tokens may have: no entity begins or ends with white space."""
        return self.scheme.constraint(is_space(doc))

    def gold(self, example: Example) -> Bools2d:
        """RETURNS (Bools2d): The tags that agree with the annotation. Raises ValueError for an unknown label."""
        try:
            gold = self.scheme.gold(gold_tags(example))
            narrow(gold, example, self.scheme)
            return gold
        except UnknownLabelError as error:
            raise ValueError(
                f"{self.name}: the annotation of {example.reference.text[:40]!r} has the label {error.label!r}, which "
                f"the component did not have when it was initialized (its labels: {', '.join(self.labels)}). Either "
                f"initialize with it, or call nlp.get_pipe({self.name!r}).add_label({error.label!r}) before the update."
            ) from None

    def incorrect(self, example: Example) -> List[TagSpan]:
        """RETURNS (List[TagSpan]): The spans under `incorrect_spans_key`. Raises ValueError if one is an entity."""
        return incorrect_spans(example, self.incorrect_spans_key, self.scheme)
