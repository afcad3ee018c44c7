"""Which tokens are white space: they are in no span, at most between its ends."""

from typing import Any

from spacy.tokens import Doc


def is_space(doc: Doc) -> Any:
    """Which tokens are white space, bool[n_tokens]."""
    return doc.to_array("IS_SPACE").astype(bool)
