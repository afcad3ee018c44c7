"""The search for the most probable words of Docs under their constraints."""

from typing import Dict, List, NamedTuple, Optional, Sequence

import numpy as np
from spacy.tokens import Doc

from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORCE
from ...tagging.spans.head import TaggerHead, TaggerOutput
from ...tagging.spans.tag_scheme import Ints1d, NoPathError, TagScheme
from ...tagging.spans.word_borders import UNKNOWN, Borders, word_starts
from ...tagging.spans.word_rules import OVERLAP, RuleConflict, raise_for_rules
from .constraints import Constraints, allowed_tags


class Segmentation(NamedTuple):
    """The words of a Doc.

    `report` counts words that the model did not decide: `split_words` crossed the edge of an entity or sentence and
    were split there; `forced_words` were forced by rules; `refused_words` could not be.
    """

    starts: Ints1d  # the first token of each word, and each white-space token
    labels: Ints1d  # the label of each; UNKNOWN for white space
    report: Dict[str, int]
    conflicts: Sequence[RuleConflict] = ()  # the rules that were not followed
    matcher: Optional[Matcher] = None  # the state of the lexicon that applied to the Doc

    @classmethod
    def empty(cls) -> "Segmentation":
        """The words of a Doc without tokens."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, _report(0, 0, 0))


def find_words(
    head: TaggerHead,
    outputs: TaggerOutput,
    docs: Sequence[Doc],
    constraints: Sequence[Constraints],
    scheme: TagScheme,
    component: str,
) -> List[Segmentation]:
    """Find the most probable words of each Doc. Docs in which words cross an edge are searched again with all edges as
    borders; the others already have the best words that cross none. Raises ValueError if rules leave no path."""

    def search(chosen: Sequence[int], borders: Sequence[Borders]) -> List[Ints1d]:
        allowed = [allowed_tags(docs[i], known, len(scheme.labels)) for i, known in zip(chosen, borders)]
        rules = [constraints[i].rules for i in chosen]
        try:
            return head.search(outputs.take(chosen), allowed, [known.spans for known in rules]).best()
        except NoPathError as error:
            raise_for_rules(error, [docs[i].text for i in chosen], rules, component)
            raise

    paths = search(range(len(docs)), [known.borders for known in constraints])
    n_split = [count_split(word_starts(path), known.edges) for path, known in zip(paths, constraints)]
    if again := [i for i, n in enumerate(n_split) if n]:
        for i, path in zip(again, search(again, [constraints[i].all_borders for i in again])):
            paths[i] = path
    conflicts = [
        known.rules.all_conflicts(scheme.decode(path), component) if known.rules.matches else ()
        for path, known in zip(paths, constraints)
    ]
    return [read_path(*parts) for parts in zip(paths, constraints, n_split, conflicts)]


def count_split(starts: Ints1d, edges: Ints1d) -> int:
    """Count the words, given by their first tokens, with an edge inside."""
    crossing = edges[~np.isin(edges, starts)]
    return len(np.unique(np.searchsorted(starts, crossing, "right")))


def read_path(
    path: Ints1d, constraints: Constraints, n_split: int = 0, conflicts: Sequence[RuleConflict] = ()
) -> Segmentation:
    """Read the words from a path of tags."""
    starts = word_starts(path)
    labels = np.where(path[starts] == 0, UNKNOWN, (path[starts] - 1) // 4)
    n_lost = sum(conflict.reason == OVERLAP for conflict in conflicts)
    n_refused = sum(conflict.rule.startswith(FORCE) for conflict in conflicts)
    report = _report(n_split, len(constraints.rules.forced) - n_lost, n_refused)
    return Segmentation(starts, labels, report, conflicts, constraints.matcher)


def _report(n_split: int, n_forced: int, n_refused: int) -> Dict[str, int]:
    return {"split_words": n_split, "forced_words": n_forced, "refused_words": n_refused}
