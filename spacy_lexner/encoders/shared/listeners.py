"""Listeners: nodes that take the vectors of a shared encoder, as spaCy and spacy-transformers have them."""

from typing import Optional

from thinc.api import Model


def find_listener(model: Model) -> Optional[Model]:
    """The first listener in a model; None if it has none."""
    return next((node for node in model.walk() if hasattr(node, "receive")), None)
