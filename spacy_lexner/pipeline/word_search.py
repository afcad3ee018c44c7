"""The most probable words of Docs, given what is known of them."""

from typing import Any, Dict, List, NamedTuple, Sequence

import numpy as np
from spacy.tokens import Doc

from ..layers.tag_scheme import Bools2d, Ints1d
from ..layers.word_borders import BORDER, UNKNOWN, Borders, border_tags, is_space, word_starts


class Limits(NamedTuple):
    """What is known of the words of a Doc.

    borders (Borders): The borders, by rules and forced words.
    edges (Ints1d): Tokens at which a word has to begin besides, since something else begins or ends there.
    forced (int), refused (int): The number of forced words, and of those that would have crossed an edge.
    """

    borders: Borders
    edges: Ints1d
    forced: int = 0
    refused: int = 0

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
        sentence, and were split there; `forced_words`; `refused_words` were to be forced, but would have cut one.
    """

    starts: Ints1d
    labels: Ints1d
    report: Dict[str, int]

    @classmethod
    def empty(cls) -> "Segmentation":
        """RETURNS (Segmentation): That of a Doc without tokens."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, _report(Limits(none.astype(np.int8), none), 0))


def find_words(
    head: Any, outputs: Any, docs: Sequence[Doc], limits: Sequence[Limits], n_labels: int
) -> List[Segmentation]:
    """Find the most probable words. Docs in which these would cross an edge are searched once more, with all edges; the
    others already have the best words that cross none.

    head (TaggerHead): The head of the tagger.
    outputs (Tuple[List[Floats2d], Floats2d]): The output of the tagger.
    docs (Sequence[Doc]): The Docs.
    limits (Sequence[Limits]): What is known of each.
    n_labels (int): Number of labels.
    RETURNS (List[Segmentation]): The words of each.
    """
    paths = head.decode(outputs, [allow(doc, known.borders, n_labels) for doc, known in zip(docs, limits)])
    n_split = [count_split(word_starts(path), known.edges) for path, known in zip(paths, limits)]
    if again := [i for i, n in enumerate(n_split) if n]:
        allowed = [allow(docs[i], limits[i].all_borders, n_labels) for i in again]
        for i, path in zip(again, head.decode(([outputs[0][i] for i in again], outputs[1]), allowed)):
            paths[i] = path
    return [read_path(*parts) for parts in zip(paths, limits, n_split)]


def allow(doc: Doc, borders: Borders, n_labels: int) -> Bools2d:
    """RETURNS (Bools2d): The tags that agree with borders, whatever the labels of the words."""
    return border_tags(borders, np.full(len(doc), UNKNOWN, dtype=np.int64), is_space(doc), n_labels)


def count_split(starts: Ints1d, edges: Ints1d) -> int:
    """RETURNS (int): The number of words, given by their first tokens, in which there is an edge."""
    crossing = edges[~np.isin(edges, starts)]
    return len(np.unique(np.searchsorted(starts, crossing, "right")))


def read_path(path: Ints1d, limits: Limits, n_split: int) -> Segmentation:
    """RETURNS (Segmentation): The words that a path of tags spells."""
    starts = word_starts(path)
    labels = np.where(path[starts] == 0, UNKNOWN, (path[starts] - 1) // 4)
    return Segmentation(starts, labels, _report(limits, n_split))


def _report(limits: Limits, n_split: int) -> Dict[str, int]:
    return {"split_words": n_split, "forced_words": limits.forced, "refused_words": limits.refused}
