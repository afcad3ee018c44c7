"""The alignment of tokens with wordpieces in the output of spacy-transformers, for Docs whose tokens change."""

from typing import Any, Callable, Dict

from thinc.api import Ragged

TRANSFORMER_DATA = ("._.", "trf_data", None, None)  # in the user data


def change_alignment(user_data: Dict[Any, Any], n_tokens: int, change: Callable[[Any], Ragged]) -> None:
    """Replace the alignment in a Doc's user data, if there is one for as many tokens.

    user_data (Dict[Any, Any]): The user data, changed in place.
    n_tokens (int): The number of tokens before the change.
    change (Callable[[Ragged], Ragged]): Computes the new alignment from the old one: for each token the number of its
        wordpieces, and these.
    """
    data: Any = user_data.get(TRANSFORMER_DATA)
    align = getattr(data, "align", None)
    if isinstance(align, Ragged) and len(align.lengths) == n_tokens:
        user_data[TRANSFORMER_DATA] = type(data)(data.wordpieces, data.model_output, change(align))
