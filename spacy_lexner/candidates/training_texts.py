"""How a model that learns from all training texts when it is initialised (a vocabulary, a word table) gets to see them.

A component initialises its model with a sample of ten Docs. Where a node wants more, it has a TrainingTexts in its
attributes, and the component, or the callback `spacy-lexner.collect_texts.v1`, shows it all Docs first.
"""

from collections import Counter
from typing import Iterable, List, Sequence

from spacy.tokens import Doc
from thinc.api import Model

ATTRIBUTE = "training_texts"


class TrainingTexts:
    """What a node keeps of the training Docs until it is initialised. Never saved with the model.

    n_docs (int): Number of Docs seen.
    tokens (Counter[str]): The texts of their tokens, and how often each occurs.
    texts (List[str]): Their texts.
    """

    def __init__(self, *, tokens: bool, texts: bool) -> None:
        """tokens (bool), texts (bool): Whether the node wants the tokens, and the texts."""
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
        self.n_docs = 0
        self.tokens: Counter[str] = Counter()
        self.texts: List[str] = []


def show_training_docs(model: Model, docs: Iterable[Doc]) -> None:
    """Show all training Docs, gone through once, to the nodes of a model that want them; call it before
    `model.initialize`. For a model without such nodes `docs` is not even read."""
    nodes = [node.attrs[ATTRIBUTE] for node in model.walk() if isinstance(node.attrs.get(ATTRIBUTE), TrainingTexts)]
    for doc in docs if nodes else ():
        for texts in nodes:
            texts.add([doc])
