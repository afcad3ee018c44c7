"""What a model remembers of the lexicon that it was trained with, and what it says if it is used with another."""

import warnings
from typing import Any, Mapping

from ..lexicon.errors import LexiconWarning
from ..lexicon.lexicon import Lexicon

ATTRIBUTE = "trained_lexicon"  # of the lexicon node; saved with the model


def describe_lexicon(lexicon: Lexicon, *, reads_labels: bool) -> Mapping[str, Any]:
    """What is remembered: `words`, how many there were; `without_labels`, whether the model would read labels of words
    but saw none; `script`, in which words were compared."""
    return {
        "words": len(lexicon),
        "without_labels": reads_labels and not lexicon.has_labels,
        "script": lexicon.normalization.script,
    }


def warn_of_difference(trained: Mapping[str, Any], lexicon: Lexicon, told: set[str]) -> None:
    """Warn, once each, of a lexicon that has shrunk by more than half, of labels that the model cannot read, and of one
    without the script of training. `told` holds what has been said."""
    n_words = trained["words"]
    if 2 * len(lexicon) < n_words and "shrunk" not in told:
        told.add("shrunk")
        warnings.warn(
            f"The lexicon has {len(lexicon)} words, but had {n_words} when the model was trained. The model relies on "
            "words where it had them: expect it to find less. Give `lex_matcher` a lexicon like that of training, or "
            "train with `lexicon_dropout` and `word_dropout` (block `lexicon` of the encoder).",
            LexiconWarning,
            stacklevel=2,
        )
    script = trained.get("script")  # models saved before have none
    if script is not None and lexicon.normalization.script != script and len(lexicon) and "script" not in told:
        told.add("script")
        warnings.warn(
            f"The lexicon compares words as they are written, that of training did so in {script} script: words in "
            f"another script are not found. Build it with script = {script!r} (`lexicon build --script {script}`).",
            LexiconWarning,
            stacklevel=2,
        )
    if trained["without_labels"] and lexicon.has_labels and "labels" not in told:
        told.add("labels")
        warnings.warn(
            "Words of the lexicon have labels, but the lexicon of training had none, so the model ignores them. Train "
            "it with a lexicon that has labels.",
            LexiconWarning,
            stacklevel=2,
        )
