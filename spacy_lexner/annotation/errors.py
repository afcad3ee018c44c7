"""Probable annotation errors: annotated spans that a model which has not seen the text finds improbable, and probable
spans that are not annotated."""

from collections import Counter
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ..report.counts import annotated
from ..report.errors import BOTH, BOUNDARY, CORRECT, TYPE, pair
from ..report.gold import GoldText
from ..visualize.lattice import Mark
from .span_scores import ScoredText

MISSING, INVENTED, COPIES = "missing", "invented", "copies differ"
KINDS = (TYPE, BOUNDARY, BOTH, MISSING, INVENTED, COPIES)
Place = Tuple[int, int, str]


class Finding(NamedTuple):
    """A probable error in the annotation of a text."""

    number: int  # of the text, from 0
    kind: str  # one of KINDS
    annotated: Optional[Mark]  # the annotated span with its probability; None if one is missing
    # The more probable span with its probability, or for COPIES what others have; None for no entity.
    proposed: Optional[Mark]
    # From 0 to 1: the probability of the annotated span, or of the missing span's absence, times the share of the
    # text's copies with the same annotation.
    probability: float

    def to_json(self, text: str) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The finding with the texts of its spans, for JSON."""
        sides = {"annotated": self.annotated, "proposed": self.proposed}
        shown = {
            name: None if mark is None else {**_row(mark), "text": text[mark.start : mark.end]}
            for name, mark in sides.items()
        }
        return {"number": self.number, "kind": self.kind, "probability": self.probability, **shown, "context": text}


def spans_of_copies(gold: Sequence[GoldText]) -> List[List[Mark]]:
    """RETURNS (List[List[Mark]]): For each text its annotated spans, then those that only other copies of it have."""
    shares = _shares(gold)
    asked = []
    for text in gold:
        others = set(shares[text.text]) - {mark[:3] for mark in text.marks}
        asked.append([*text.marks, *(Mark(*place) for place in sorted(others))])
    return asked


def find_errors(gold: Sequence[GoldText], scored: Sequence[Optional[ScoredText]]) -> List[Finding]:
    """Find probable errors, the most probable first.

    gold (Sequence[GoldText]): The annotated texts.
    scored (Sequence[Optional[ScoredText]]): The scores of the spans of `spans_of_copies`, by a model that has seen no
        copy of the text; None for a text without scores. Spans without a score are not judged, and spans with a label
        that no text is annotated with are not missing.
    """
    shares, labels = _shares(gold), _labels(gold)
    findings = []
    for i, text in enumerate(gold):
        if (own := scored[i]) is not None:
            own = own._replace(likely=[mark for mark in own.likely if mark.label in labels])
            findings += _in_text(i, text, own, shares[text.text])
    return sorted(findings, key=lambda finding: (finding.probability, finding.number))


def count_unjudged(gold: Sequence[GoldText], scored: Sequence[Optional[ScoredText]]) -> Dict[str, int]:
    """RETURNS (Dict[str, int]): By label, sorted, the number of annotated spans that the model could not judge."""
    judged = (own.asked[: len(text.marks)] for text, own in zip(gold, scored) if own is not None)
    counts = Counter(mark.label for marks in judged for mark in marks if mark.score is None)
    return dict(sorted(counts.items()))


def count_unannotated(gold: Sequence[GoldText], scored: Sequence[Optional[ScoredText]]) -> Dict[str, int]:
    """RETURNS (Dict[str, int]): By label, sorted, the number of probable spans whose label is nowhere annotated."""
    labels = _labels(gold)
    marks = (mark for own in scored if own is not None for mark in own.likely)
    return dict(sorted(Counter(mark.label for mark in marks if mark.label not in labels).items()))


def _labels(gold: Sequence[GoldText]) -> Set[str]:
    return {mark.label for text in gold for mark in text.marks}


def _in_text(number: int, text: GoldText, scored: ScoredText, share: Dict[Place, float]) -> List[Finding]:
    """RETURNS (List[Finding]): The findings in one text, at most one for each place. `share` is that of its copies."""
    present = scored.asked[: len(text.marks)]
    unjudged = [(mark.start, mark.end) for mark in present if mark.score is None]
    text = text._replace(unknown=[*text.unknown, *unjudged])  # whatever is on them cannot be judged either
    findings, explained = [], set()
    for outcome in pair([mark for mark in present if mark.score is not None], annotated(text, scored.likely)):
        mark, other = outcome.gold, outcome.predicted
        if outcome.kind == CORRECT:
            continue
        if mark is not None and (mark.score or 0.0) < 0.5:
            kind = outcome.kind if other is not None else INVENTED
            findings.append(Finding(number, kind, mark, other, (mark.score or 0.0) * share.get(mark[:3], 1.0)))
        elif mark is None and other is not None:
            absent = 1 - share.get(other[:3], 0.0)
            findings.append(Finding(number, MISSING, None, other, (1 - (other.score or 0.0)) * absent))
        explained |= {side[:3] for side in (mark, other) if side is not None}
    differing = [mark for mark in scored.asked if mark[:3] not in explained and share[mark[:3]] < 1.0]
    return [*findings, *_in_copies(number, text, differing, share)]


def _in_copies(number: int, text: GoldText, marks: Iterable[Mark], share: Dict[Place, float]) -> Iterator[Finding]:
    """YIELDS (Finding): The judged spans that not all copies of a text have."""
    own = {mark[:3] for mark in text.marks}
    for mark in marks:
        if mark.score is None:
            continue
        if mark[:3] in own:
            yield Finding(number, COPIES, mark, None, mark.score * share[mark[:3]])
        elif annotated(text, [mark]):
            yield Finding(number, COPIES, None, mark, (1 - mark.score) * (1 - share[mark[:3]]))


def propose(text: GoldText, findings: Iterable[Finding]) -> List[Mark]:
    """RETURNS (List[Mark]): The annotation of a text with findings corrected; of overlapping proposals, the most
    probable is kept. Where only copies differ, nothing is better than what the text has."""
    findings = [finding for finding in findings if finding.kind != COPIES]
    wrong = {finding.annotated[:3] for finding in findings if finding.annotated is not None}
    proposed = [finding.proposed for finding in findings if finding.proposed is not None]
    marks = [mark for mark in text.marks if mark[:3] not in wrong]
    for mark in sorted(proposed, key=lambda mark: -(mark.score or 0.0)):
        if not any(mark.start < other.end and other.start < mark.end for other in marks):
            marks.append(mark)
    return sorted(marks)


def count_kinds(findings: Iterable[Finding]) -> Dict[str, int]:
    """RETURNS (Dict[str, int]): The number of findings of each kind."""
    counts = Counter(finding.kind for finding in findings)
    return {kind: counts[kind] for kind in KINDS}


def _shares(gold: Sequence[GoldText]) -> Dict[str, Dict[Place, float]]:
    """RETURNS (Dict[str, Dict[Place, float]]): For each text its spans, and the share of its copies that have each."""
    counts: Dict[str, Counter[Place]] = {}
    for text in gold:
        counts.setdefault(text.text, Counter()).update({mark[:3] for mark in text.marks})
    n_copies = Counter(text.text for text in gold)
    return {text: {place: n / n_copies[text] for place, n in own.items()} for text, own in counts.items()}


def _row(mark: Mark) -> Dict[str, Any]:
    return {"start": mark.start, "end": mark.end, "label": mark.label, "probability": mark.score}
