"""Safe access to what our components keep in `doc.user_data`, which may hold anything in a Doc from a foreign file."""

from contextlib import contextmanager
from typing import Iterator

from ..lexicon.limits import quote


@contextmanager
def reading(attribute: str) -> Iterator[None]:
    """Raise ValueError, which names the attribute, if the data stored for it was not written by us."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(
            f"{attribute}: the data that this Doc has for it was not written by spacy-lexner "
            f"({type(error).__name__}: {quote(str(error))}). Run the pipeline on the text again: nlp(doc.text)"
        ) from None
