"""Division of annotated texts into parts, each to be scored by a model that has not seen it."""

from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

import numpy as np
from spacy.tokens import Doc

from ..formats.spacy_file import write_docs
from ..integrity.folders import whole_folder

DEV_SHARE = 0.1  # of the texts that a model learns from: held out to choose its best state


class Fold(NamedTuple):
    """One part of the texts, and those that its model learns from, by text number."""

    train: List[int]
    dev: List[int]
    held: List[int]


def divide(texts: Sequence[str], n_folds: int, *, seed: int = 0) -> List[Fold]:
    """Divide texts at random into parts of about equal size. Equal texts are always in the same part, so that no model
    has seen a copy of a text that it scores.

    texts (Sequence[str]): The texts.
    n_folds (int): Number of parts, at least 2. Raises ValueError with fewer than two different texts for each.
    """
    copies: Dict[str, List[int]] = {}
    for i, text in enumerate(texts):
        copies.setdefault("".join(text.split()), []).append(i)
    if n_folds < 2 or len(copies) < 2 * n_folds:
        raise ValueError(f"{len(copies)} different texts cannot be divided into {n_folds} parts of at least two.")
    groups, random = list(copies.values()), np.random.default_rng(seed)
    folds = random.permutation(len(groups)) % n_folds
    divided = []
    for fold in range(n_folds):
        others = random.permutation(np.flatnonzero(folds != fold))
        n_dev = max(1, round(DEV_SHARE * len(others)))
        parts = others[n_dev:], others[:n_dev], np.flatnonzero(folds == fold)
        divided.append(Fold(*(sorted(i for group in part.tolist() for i in groups[group]) for part in parts)))
    return divided


def write_fold(docs: Sequence[Doc], fold: Fold, folder: Path) -> None:
    """Write the texts that a model learns from as `train.spacy` and `dev.spacy`, unless the folder exists."""
    if folder.exists():
        return
    with whole_folder(folder) as temporary:
        for name in ("train", "dev"):
            write_docs((docs[i] for i in getattr(fold, name)), temporary / f"{name}.spacy")
