"""Drawing the texts that score models from the annotated ones, if there are no others."""

from collections import Counter
from typing import Collection, Dict, Iterable, List, Sequence, Set

import numpy as np
from spacy.tokens import Doc

from .protected import squeeze

SHARE = 0.2  # of the different texts


def draw_judges(docs: Sequence[Doc], known: Collection[str], seed: int, *, name: str) -> Set[int]:
    """Draw a fifth of annotated texts, at least one with entities. Equal texts stay on one side. A text is not drawn if
    the training texts would then lack one of its labels.

    docs (Sequence[Doc]): The annotated texts.
    known (Collection[str]): The labels that other training data has.
    seed (int): Random seed.
    name (str): Where the texts are from, for errors.
    RETURNS (Set[int]): The numbers of the Docs drawn, none from fewer than two different texts. Raises ValueError if no
        text with entities can be drawn.
    """
    groups = _copies(docs)
    if len(groups) < 2:
        return set()
    labels = [labels_of(docs[i] for i in group) for group in groups]
    n_texts = Counter(label for own in labels for label in own)  # on the side of training

    def may_go(number: int) -> bool:
        return all(label in known or n_texts[label] > 1 for label in labels[number])

    order: List[int] = np.random.default_rng(seed).permutation(len(groups)).tolist()
    first = next((number for number in order if labels[number] and may_go(number)), None)
    if first is None:
        reason = "each text with entities has a label that no other has" if n_texts else "no text has an entity"
        raise ValueError(
            f"{name}: a fifth of the {len(groups)} different texts should score models, but {reason}. Give annotated "
            "texts for that (--dev), or label more texts."
        )
    order.sort(key=lambda number: number != first)
    drawn: Set[int] = set()
    for number in order:
        if len(drawn) < max(1, round(SHARE * len(groups))) and may_go(number):
            drawn.add(number)
            n_texts.subtract(labels[number])
    return {i for number in drawn for i in groups[number]}


def labels_of(docs: Iterable[Doc]) -> Set[str]:
    """RETURNS (Set[str]): The labels of all entities."""
    return {ent.label_ for doc in docs for ent in doc.ents}


def _copies(docs: Sequence[Doc]) -> List[List[int]]:
    """The numbers of the Docs with the same text, for each different text."""
    groups: Dict[str, List[int]] = {}
    for i, doc in enumerate(docs):
        groups.setdefault(squeeze(doc.text), []).append(i)
    return list(groups.values())
