"""The annotated texts of a run: those that models learn from, and those that score them."""

from pathlib import Path
from typing import Collection, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc

from ..formats import spacy_file
from .dictionary import Dictionary
from .judges import draw_judges, labels_of
from .protected import ProtectedTexts

JUDGES = "the annotated texts that score models"


class Annotated(NamedTuple):
    """Annotated texts, to learn from (`labelled`) and to score models on (`dev`)."""

    labelled: List[Doc]
    dev: List[Doc]

    def protected(self) -> Optional[ProtectedTexts]:
        """RETURNS (Optional[ProtectedTexts]): What nothing may learn from; None if no annotated text scores models."""
        return protect(self.dev) if self.dev else None


def read_annotated(
    dev: Optional[Path], labelled: Optional[Path], known: Collection[str], *, skip_shared: bool, seed: int
) -> Annotated:
    """Read annotated texts.

    dev (Optional[Path]): Those to score models on. By default they are drawn from `labelled`, see `draw_judges`.
    labelled (Optional[Path]): Those to learn from.
    known (Collection[str]): The labels that other training data has.
    skip_shared (bool): Leave out texts of `labelled` that are also in `dev`, instead of raising an error.
    seed (int): Random seed of the draw.
    RETURNS (Annotated): The texts. Raises ValueError if those to score models on have no entities, or if the others
        overlap them.
    """
    docs = [] if labelled is None else list(spacy_file.read_annotated(labelled))
    if dev is None:
        drawn = draw_judges(docs, known, seed, name=str(labelled))
        return Annotated(*([doc for i, doc in enumerate(docs) if (i in drawn) == side] for side in (False, True)))
    judges = read_judges(dev)
    return Annotated(drop_shared(docs, judges, (str(labelled), str(dev)), skip_shared), judges)


def read_judges(dev: Path) -> List[Doc]:
    """RETURNS (List[Doc]): Annotated texts to score models on. Raises ValueError if they have no entities: all models
    would have the same score, and the first be the best."""
    judges = list(spacy_file.read_annotated(dev))
    if not labels_of(judges):
        raise ValueError(f"{dev}: no entities in the {len(judges)} texts to score models on.")
    return judges


def drop_shared(docs: Sequence[Doc], judges: Sequence[Doc], names: Tuple[str, str], skip_shared: bool) -> List[Doc]:
    """RETURNS (List[Doc]): The Docs that do not overlap those that score models; `names` says where both are from.
    Raises ValueError if there are others and they are not to be skipped, or if none is left."""
    shared = {overlap.line - 1 for overlap in protect(judges).find(doc.text for doc in docs)} if judges else set()
    labelled, dev = names
    if shared and not skip_shared:
        raise ValueError(
            f"{len(shared)} of the {len(docs)} texts of {labelled} overlap {dev}, such as "
            f"{docs[min(shared)].text[:40]!r}: a model cannot be scored on what it has learned from. Remove them from "
            "one of the two, or skip them (--skip-shared)."
        )
    if shared and len(shared) == len(docs):
        raise ValueError(f"All texts of {labelled} overlap {dev}, so none is left to learn from. Give others, or none.")
    return [doc for i, doc in enumerate(docs) if i not in shared]


def check_labels(dictionary: Dictionary, annotated: Annotated) -> Tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): All labels, sorted. Raises ValueError if the texts to score models on have others."""
    known = {*dictionary.label_names, *labels_of(annotated.labelled)}
    if unknown := sorted(labels_of(annotated.dev) - known):
        raise ValueError(
            f"The annotated texts to score models on have the labels {', '.join(unknown)}, which no training data has: "
            f"the dictionary has {', '.join(dictionary.label_names)}. Rename labels, or leave these out."
        )
    return tuple(sorted(known))


def protect(judges: Sequence[Doc]) -> ProtectedTexts:
    """RETURNS (ProtectedTexts): Finds texts that overlap those that score models."""
    return ProtectedTexts(((JUDGES, doc.text) for doc in judges), equal=True)
