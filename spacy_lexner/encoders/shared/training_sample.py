"""What an encoder does that should learn its tables from all training texts, but has seen none."""

import warnings
from typing import Sequence

from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts


def take_sample(sample: Sequence[Doc], texts: TrainingTexts, name: str, tables: str, remedy: str = "") -> None:
    """Use a few Docs instead of the training texts, and warn.

    sample (Sequence[Doc]): The Docs that the encoder is initialised with.
    texts (TrainingTexts): Receives them.
    name (str), tables (str): The encoder, and what it makes of the texts.
    remedy (str): What else helps than to show it the texts, as "set ..., or ".
    """
    warnings.warn(
        f"{name} makes {tables} of the training texts, but saw only a sample of {len(sample)}; anything else is "
        f"unknown to it. `lex_ner` shows it all texts. With another component, {remedy}add to the config\n"
        '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
        stacklevel=3,
    )
    texts.add(sample)
