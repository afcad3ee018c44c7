"""The search for the most probable entities of Docs under their constraints, for alternative paths, and for spans that
the model is uncertain about."""

from typing import Any, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc

from ...candidates.batch_words import AttendedWords
from ...candidates.user_data import reading
from ...lexicon.matcher import Matcher
from ...tagging.spans.head import PathSearch, TaggerHead, TaggerOutput
from ...tagging.spans.tag_scheme import NoPathError, TagScheme, TagSpan
from ...tagging.spans.word_rules import ForcedWord, RuleConflict, raise_for_rules
from .constraints import Constraints

USER_DATA_KEY: Any = ("._.", "lex_alternatives", None, None)
Place = Tuple[int, int, str]  # first token, end (exclusive), label


class Entity(NamedTuple):
    """A predicted or possible entity: units from `start` to `end` (exclusive), label, and probability or score."""

    start: int
    end: int
    label: str
    score: float


class ReadEntity(NamedTuple):
    """An entity of an alternative: its characters, which do not change when tokens are merged, label and text."""

    start_char: int
    end_char: int
    label: str
    text: str


class Alternative(NamedTuple):
    """One path through a Doc."""

    probability: float  # of exactly these entities; 0 if it is too small for a float, as in long texts
    log_probability: float  # its natural logarithm
    entities: Tuple[ReadEntity, ...]  # in order


class Prediction(NamedTuple):
    """The predictions for a Doc, on the tokens of its unit Doc."""

    entities: List[Entity]  # without those that it already has and keeps
    alternatives: List[Alternative]  # the most probable paths, including the entities that it keeps
    uncertain: List[Entity]  # the spans whose probability lies between the bounds of uncertainty
    conflicts: List[RuleConflict]  # the rules that were not followed
    matcher: Optional[Matcher]  # the state of the lexicon that applied to it
    forced: Sequence[ForcedWord] = ()  # the words forced by rules
    unit_doc: Optional[Doc] = None
    attended: Optional[AttendedWords] = None  # the attention of its tokens to candidate words, if requested

    def read_from(self, doc: Doc) -> Doc:
        """The unit Doc of a Doc."""
        return doc if self.unit_doc is None else self.unit_doc


NOTHING = Prediction([], [Alternative(1.0, 0.0, ())], [], [], None)


def find_entities(
    head: TaggerHead,
    outputs: TaggerOutput,
    docs: Sequence[Doc],
    constraints: Sequence[Constraints],
    scheme: TagScheme,
    component: str,
    n_alternatives: int = 0,
    uncertain: Optional[Tuple[float, float]] = None,
) -> List[Prediction]:
    """Find the most probable entities of each unit Doc, its `n_alternatives` most probable paths, and the spans with
    probabilities between the bounds of `uncertain`, both inclusive. `scheme` includes the labels that only rules use.
    Raises ValueError if rules leave no path."""
    search = search_paths(head, outputs, constraints)
    try:
        best = [scheme.decode(path) for path in search.best()]
    except NoPathError as error:
        raise_for_rules(error, [doc.text for doc in docs], [known.rules for known in constraints], component)
        raise
    new = [known.drop_kept(spans) for spans, known in zip(best, constraints)]
    scores = search.span_scores(new)
    alternatives = _find_alternatives(search, docs, constraints, scheme, n_alternatives)
    in_doubt = _find_uncertain(search, constraints, scheme, uncertain)
    return [
        Prediction(
            [Entity(span.start, span.end, scheme.labels[span.label], float(p)) for span, p in zip(new[i], scores[i])],
            alternatives[i],
            in_doubt[i],
            known.rules.all_conflicts(best[i], component),
            known.matcher,
            known.rules.forced,
            docs[i],
        )
        for i, known in enumerate(constraints)
    ]


def score_entities(
    head: TaggerHead,
    outputs: TaggerOutput,
    constraints: Sequence[Constraints],
    scheme: TagScheme,
    places: Sequence[Sequence[Place]],
) -> List[List[float]]:
    """Compute the probabilities of spans of each Doc. Raises ValueError for a label that is not in `scheme`."""
    spans = [[TagSpan(start, end, scheme.index(label)) for start, end, label in own] for own in places]
    return [scores.tolist() for scores in search_paths(head, outputs, constraints).span_scores(spans)]


def search_paths(head: TaggerHead, outputs: TaggerOutput, constraints: Sequence[Constraints]) -> PathSearch:
    """Set up the search for paths in Docs under their constraints."""
    return head.search(outputs, [known.allowed for known in constraints], [known.rules.spans for known in constraints])


def _find_alternatives(
    search: PathSearch, docs: Sequence[Doc], constraints: Sequence[Constraints], scheme: TagScheme, n: int
) -> List[List[Alternative]]:
    alternatives: List[List[Alternative]] = [[] for _ in docs]
    for found, doc, known, own in zip(search.k_best(n) if n else (), docs, constraints, alternatives):
        kept = [(ent.start, ent.end, ent.label_) for ent in known.kept]
        for path in found:
            new = known.drop_kept(scheme.decode(path.tags))
            places = sorted([*kept, *((start, end, scheme.labels[label]) for start, end, label in new)])
            spans = [(doc[start:end], label) for start, end, label in places]
            entities = tuple(ReadEntity(span.start_char, span.end_char, label, span.text) for span, label in spans)
            own.append(Alternative(path.probability, path.log_probability, entities))
    return alternatives


def _find_uncertain(
    search: PathSearch,
    constraints: Sequence[Constraints],
    scheme: TagScheme,
    bounds: Optional[Tuple[float, float]],
) -> List[List[Entity]]:
    if bounds is None:
        return [[] for _ in constraints]
    uncertain = []
    for likely, known in zip(search.spans_above(bounds[0]), constraints):
        probabilities = dict(likely)
        spans = known.drop_kept([span for span, p in likely if p <= bounds[1]])
        uncertain.append([Entity(s.start, s.end, scheme.labels[s.label], probabilities[s]) for s in spans])
    return uncertain


def set_alternatives(doc: Doc, alternatives: Iterable[Alternative]) -> None:
    """Store alternatives in a Doc, the most probable first."""
    doc.user_data[USER_DATA_KEY] = [[p, log_p, [list(ent[:3]) for ent in ents]] for p, log_p, ents in alternatives]


@reading("doc._.lex_alternatives")
def get_alternatives(doc: Doc) -> List[Alternative]:
    """The alternatives of a Doc, the most probable first; empty if none were stored."""
    text = doc.text
    return [
        Alternative(p, log_p, tuple(ReadEntity(start, end, label, text[start:end]) for start, end, label in entities))
        for p, log_p, entities in doc.user_data.get(USER_DATA_KEY, ())
    ]


def check_bounds(bounds: Optional[Sequence[float]]) -> Optional[Tuple[float, float]]:
    """Return the bounds of uncertainty. Raises ValueError unless they are None or 0 < lower <= upper <= 1."""
    if bounds is None:
        return None
    if len(bounds) != 2 or not 0 < bounds[0] <= bounds[1] <= 1:
        raise ValueError(
            f"uncertain is {list(bounds)}; expected two probabilities, the lower one above 0, such as [0.1, 0.9], or "
            "null."
        )
    return bounds[0], bounds[1]
