"""The contents of a picture: a text, its candidate words and its entities."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc, Span

from ..candidates.storage import Candidates, find_candidates, get_candidates
from ..lexicon.entry import Labels
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions
from ..pipeline.exact_offsets import get_offsets

PlaceT = Tuple[int, int]


class Word(NamedTuple):
    """A candidate word."""

    start: int  # its characters, half-open
    end: int
    strength: Optional[float] = None  # how strongly it is drawn, from 0 to 1; None if unknown
    note: str = ""  # further details
    labels: Labels = ()


class Mark(NamedTuple):
    """An entity."""

    start: int  # its characters, half-open
    end: int
    label: str
    score: Optional[float] = None  # its confidence
    note: str = ""  # further details


class Track(NamedTuple):
    """Entities from one source."""

    name: str  # the source, such as "gold"; "" if there is only one
    marks: List[Mark]  # may overlap


class Lattice(NamedTuple):
    """The contents of a picture: a text, its candidate words, and the entities of one or more sources."""

    text: str
    words: List[Word]
    tracks: List[Track]


def read_lattice(doc: Doc, lexicon: Optional[Lexicon] = None, *, spans_key: Optional[str] = None) -> Lattice:
    """Read the contents of a picture from a Doc.

    doc (Doc): Its candidate words are those of `lex_matcher` or, if that has not run, those that the lexicon finds.
    lexicon (Optional[Lexicon]): Source of the words' weights and labels. Without it all words are drawn alike.
    spans_key (Optional[str]): Show these spans instead of `doc.ents`.
    """
    spans: Sequence[Span] = doc.ents if spans_key is None else list(doc.spans.get(spans_key, []))
    stored = get_candidates(doc)
    candidates = None if stored is None else stored[1]
    if candidates is None and lexicon is not None:
        candidates = find_candidates(Matcher(lexicon, MatchOptions(min_length=2)), [doc])[0]
    words = [] if candidates is None else _read_words(doc.text, candidates, lexicon, read_support(spans))
    return Lattice(doc.text, words, [Track("", read_marks(spans))])


def read_marks(spans: Sequence[Span]) -> List[Mark]:
    """Convert spans to marks, with their score if they have one (`span._.lex_score`)."""
    scored = Span.has_extension("lex_score")
    return [Mark(*get_offsets(span), span.label_, span._.lex_score if scored else None) for span in spans]


class Support(NamedTuple):
    """The dependence of entities on a word."""

    attention: Optional[float]  # the maximum that any entity pays to it; None if unknown
    notes: List[str]  # the change of each entity's score without the word


def read_support(spans: Sequence[Span]) -> Dict[PlaceT, Support]:
    """RETURNS (Dict[PlaceT, Support]): How much entities depend on words (`span._.lex_words`), by (start, end) of the
    words; empty if unknown."""
    support: Dict[PlaceT, Support] = {}
    for span in spans if Span.has_extension("lex_words") else []:
        for word in span._.lex_words or []:
            attention, notes = support.get((word.start, word.end), Support(None, []))
            if word.change is not None:
                notes = [*notes, f"without it {span.text} {span.label_} {word.change:+.2f}"]
            known = [weight for weight in (attention, word.weight) if weight is not None]
            support[word.start, word.end] = Support(max(known, default=None), notes)
    return support


def _read_words(
    text: str, candidates: Candidates, lexicon: Optional[Lexicon], support: Dict[PlaceT, Support]
) -> List[Word]:
    places = list(zip(candidates.starts.tolist(), candidates.ends.tolist()))
    entries = [None if lexicon is None else lexicon.get(text[start:end]) for start, end in places]
    weights = [None if entry is None else entry.weight for entry in entries]
    attention = [(support[place].attention or 0.0) if place in support else 0.0 for place in places]
    most = max(attention, default=0.0)
    strengths = [share / most for share in attention] if most else _scale(weights)
    return [
        Word(*place, strength, _describe(entry, support.get(place)), () if entry is None else entry.labels)
        for place, strength, entry in zip(places, strengths, entries)
    ]


def _scale(weights: Sequence[Optional[float]]) -> List[Optional[float]]:
    """RETURNS (List[Optional[float]]): The rank of each weight among the distinct ones, from 0 to 1; None for all if
    they are equal."""
    distinct = sorted({weight for weight in weights if weight is not None})
    if len(distinct) < 2:
        return [None] * len(weights)
    ranks = {weight: i / (len(distinct) - 1) for i, weight in enumerate(distinct)}
    return [None if weight is None else ranks[weight] for weight in weights]


def _describe(entry: Any, support: Optional[Support]) -> str:
    parts: List[str] = []
    if support is not None:
        parts += [] if support.attention is None else [f"attention {support.attention:.3f}"]
        parts += support.notes
    if entry is not None:
        parts += ["" if entry.weight == 1 else f"weight {entry.weight:g}", *entry.labels, entry.entity_id]
    return ", ".join(filter(None, parts))
