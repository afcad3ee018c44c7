"""What our components keep in `doc.user_data`, which a Doc from a stranger's file may bring along in any form."""

from contextlib import contextmanager
from typing import Iterator

from ..lexicon.limits import quote


@contextmanager
def reading(attribute: str) -> Iterator[None]:
    """Raise ValueError, which names the attribute, where what is stored for it is not of our making."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(
            f"{attribute}: what this Doc has stored for it is not what spacy-lexner stores "
            f"({type(error).__name__}: {quote(str(error))}). Run the pipeline on the text again: nlp(doc.text)"
        ) from None
