"""The most probable words of Docs, given what is known of them."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np
from spacy.tokens import Doc

from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORCE
from ...tagging.spans.tag_scheme import Bools2d, Ints1d, NoPathError, TagScheme
from ...tagging.spans.word_borders import BORDER, UNKNOWN, Borders, border_tags, is_space, word_starts
from ...tagging.spans.word_rules import NO_RULES, OVERLAP, DocRules, RuleConflict, raise_for_rules


class Limits(NamedTuple):
    """What is known of the words of a Doc.

    borders (Borders): The borders that are known in any text (see `spans.word_borders.fixed_borders`).
    edges (Ints1d): Tokens at which a word has to begin besides, since something else begins or ends there.
    rules (DocRules): The rules of the lexicon's words.
    matcher (Optional[Matcher]): The state of the lexicon that holds for the Doc.
    """

    borders: Borders
    edges: Ints1d
    rules: DocRules = NO_RULES
    matcher: Optional[Matcher] = None

    @property
    def all_borders(self) -> Borders:
        """RETURNS (Borders): The borders, those at the edges included."""
        borders = self.borders.copy()
        borders[self.edges] = BORDER
        return borders


class Segmentation(NamedTuple):
    """The words of a Doc.

    starts (Ints1d): The first token of each word, and of each token of white space.
    labels (Ints1d): The label of each; UNKNOWN for white space.
    report (Dict[str, int]): What was decided otherwise than by the model: `split_words` would have cut an entity or a
        sentence, and were split there; `forced_words` of the lexicon; `refused_words` were to be forced, and are not.
    conflicts (Sequence[RuleConflict]): The rules that were not followed.
    matcher (Optional[Matcher]): The state of the lexicon that held for the Doc.
    """

    starts: Ints1d
    labels: Ints1d
    report: Dict[str, int]
    conflicts: Sequence[RuleConflict] = ()
    matcher: Optional[Matcher] = None

    @classmethod
    def empty(cls) -> "Segmentation":
        """RETURNS (Segmentation): That of a Doc without tokens."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, _report(0, 0, 0))


def find_words(
    head: Any, outputs: Any, docs: Sequence[Doc], limits: Sequence[Limits], scheme: TagScheme, component: str
) -> List[Segmentation]:
    """Find the most probable words. Docs in which these would cross an edge are searched once more, with all edges; the
    others already have the best words that cross none.

    head (TaggerHead): The head of the tagger.
    outputs (Tuple[List[Floats2d], Floats2d]): The output of the tagger.
    docs (Sequence[Doc]): The Docs.
    limits (Sequence[Limits]): What is known of each.
    scheme (TagScheme): The tags.
    component (str): The component's name, for what is told about rules.
    RETURNS (List[Segmentation]): The words of each. Raises ValueError where rules leave no reading.
    """

    def search(chosen: Sequence[int], borders: Sequence[Borders]) -> List[Ints1d]:
        allowed = [allow(docs[i], known, len(scheme.labels)) for i, known in zip(chosen, borders)]
        rules = [limits[i].rules for i in chosen]
        part = [outputs[0][i] for i in chosen], outputs[1]
        try:
            return head.search(part, allowed, [known.spans for known in rules]).best()
        except NoPathError as error:
            raise_for_rules(error, [docs[i].text for i in chosen], rules, component)
            raise

    paths = search(range(len(docs)), [known.borders for known in limits])
    n_split = [count_split(word_starts(path), known.edges) for path, known in zip(paths, limits)]
    if again := [i for i, n in enumerate(n_split) if n]:
        for i, path in zip(again, search(again, [limits[i].all_borders for i in again])):
            paths[i] = path
    conflicts = [
        known.rules.all_conflicts(scheme.decode(path), component) if known.rules.matches else ()
        for path, known in zip(paths, limits)
    ]
    return [read_path(*parts) for parts in zip(paths, limits, n_split, conflicts)]


def allow(doc: Doc, borders: Borders, n_labels: int) -> Bools2d:
    """RETURNS (Bools2d): The tags that agree with borders, whatever the labels of the words."""
    return border_tags(borders, np.full(len(doc), UNKNOWN, dtype=np.int64), is_space(doc), n_labels)


def count_split(starts: Ints1d, edges: Ints1d) -> int:
    """RETURNS (int): The number of words, given by their first tokens, in which there is an edge."""
    crossing = edges[~np.isin(edges, starts)]
    return len(np.unique(np.searchsorted(starts, crossing, "right")))


def read_path(path: Ints1d, limits: Limits, n_split: int, conflicts: Sequence[RuleConflict] = ()) -> Segmentation:
    """RETURNS (Segmentation): The words that a path of tags spells."""
    starts = word_starts(path)
    labels = np.where(path[starts] == 0, UNKNOWN, (path[starts] - 1) // 4)
    n_lost = sum(1 for conflict in conflicts if conflict.reason == OVERLAP)
    n_refused = sum(1 for conflict in conflicts if conflict.rule.startswith(FORCE))
    report = _report(n_split, len(limits.rules.forced) - n_lost, n_refused)
    return Segmentation(starts, labels, report, conflicts, limits.matcher)


def _report(n_split: int, n_forced: int, n_refused: int) -> Dict[str, int]:
    return {"split_words": n_split, "forced_words": n_forced, "refused_words": n_refused}
