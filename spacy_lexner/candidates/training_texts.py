"""Collecting all training texts for models whose initialization needs them (a vocabulary, a word table).

A component initializes its model with a sample of ten Docs. A node that needs more has a TrainingTexts in its
attributes, and the component, or the callback `spacy-lexner.collect_texts.v1`, shows it all Docs first.
"""

from collections import Counter
from typing import Iterable, Iterator, List, Sequence

from spacy.tokens import Doc
from thinc.api import Model

from .unit_docs import make_unit_docs

ATTRIBUTE = "training_texts"


class TrainingTexts:
    """The training data that a node collects until it is initialized. Never saved with the model."""

    def __init__(self, *, tokens: bool, texts: bool, units: bool = True) -> None:
        """tokens (bool): Count tokens.
        texts (bool): Keep texts.
        units (bool): Also count the tokens of unit Docs, which components read; `spacy pretrain` may mask whole words.
        """
        self._wants_tokens, self._wants_texts, self._wants_units = tokens, texts, units
        self.clear()

    def add(self, docs: Sequence[Doc]) -> None:
        self.n_docs += len(docs)
        for doc in docs:
            if self._wants_tokens:
                self.tokens.update(token.text for token in doc)
                for unit_doc in make_unit_docs([doc]) if self._wants_units else ():
                    if unit_doc is not doc:
                        self.tokens.update(token.text for token in unit_doc)
            if self._wants_texts:
                self.texts.append(doc.text)

    def clear(self) -> None:
        self.n_docs = 0  # Docs seen
        self.tokens: Counter[str] = Counter()  # how often each token occurs
        self.texts: List[str] = []  # the texts of the Docs


def show_training_docs(model: Model, docs: Iterable[Doc]) -> None:
    """Show all training Docs, in one pass, to the nodes of a model that want them; call it before `model.initialize`.
    If there are no such nodes, `docs` is not read."""
    if _nodes(model):
        for _doc in pass_training_docs(model, docs):
            pass


def pass_training_docs(model: Model, docs: Iterable[Doc]) -> Iterator[Doc]:
    """As `show_training_docs`, for what else reads all training Docs.

    YIELDS (Doc): Each Doc, after it has been shown.
    """
    nodes = _nodes(model)
    for doc in docs:
        for texts in nodes:
            texts.add([doc])
        yield doc


def _nodes(model: Model) -> List[TrainingTexts]:
    found = (node.attrs.get(ATTRIBUTE) for node in model.walk())
    return [texts for texts in found if isinstance(texts, TrainingTexts)]
