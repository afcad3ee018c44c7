"""How a model that learns from all training texts when it is initialized (a vocabulary, a word table) gets to see them.

A component initializes its model with a sample of ten Docs. A node that needs more has a TrainingTexts in its
attributes, and the component, or the callback `spacy-lexner.collect_texts.v1`, shows it all Docs first.
"""

from collections import Counter
from typing import Iterable, List, Sequence

from spacy.tokens import Doc
from thinc.api import Model

ATTRIBUTE = "training_texts"


class TrainingTexts:
    """What a node keeps of the training Docs until it is initialized. Never saved with the model."""

    def __init__(self, *, tokens: bool, texts: bool) -> None:
        """`tokens` and `texts` say which of these the node needs."""
        self._wants_tokens, self._wants_texts = tokens, texts
        self.clear()

    def add(self, docs: Sequence[Doc]) -> None:
        self.n_docs += len(docs)
        for doc in docs:
            if self._wants_tokens:
                self.tokens.update(token.text for token in doc)
            if self._wants_texts:
                self.texts.append(doc.text)

    def clear(self) -> None:
        self.n_docs = 0  # Docs seen
        self.tokens: Counter[str] = Counter()  # how often each token occurs
        self.texts: List[str] = []  # the texts of the Docs


def show_training_docs(model: Model, docs: Iterable[Doc]) -> None:
    """Show all training Docs, in one pass, to the nodes of a model that want them; call it before `model.initialize`.
    If there are no such nodes, `docs` is not read."""
    nodes = [node.attrs[ATTRIBUTE] for node in model.walk() if isinstance(node.attrs.get(ATTRIBUTE), TrainingTexts)]
    for doc in docs if nodes else ():
        for texts in nodes:
            texts.add([doc])
