"""What is in a lexicon, in figures."""

from collections import Counter
from typing import Any, Dict

import numpy as np

from .lexicon import Lexicon
from .rules import MODES
from .strings import Strings

CONTINUATION = 0b10  # the two highest bits of a UTF-8 byte that begins no character


def summarise(lexicon: Lexicon) -> Dict[str, Any]:
    """Count what a lexicon holds.

    lexicon (Lexicon): The lexicon.
    RETURNS (Dict[str, Any]): `words`, `dim`, `dtype`, `words_with_vector`, `words_with_entity_id`; `lengths`, the
        number of words by length in characters, `labels`, by label, the most frequent first, and `rules`, by mode;
        `weight`, its least, median and greatest value; `normalise_case`, `normalise_width`; `version`, in hexadecimal.
        Ready for JSON.
    """
    table = lexicon.table
    lengths = np.bincount(count_characters(table.words))
    weights = np.ones(1, "f4") if table.weights is None or not table.size else table.weights
    labels = Counter() if table.labels is None else Counter(table.labels.all())
    labels.pop("", None)
    rules = Counter(rule.mode for entry in lexicon.ruled_words() for rule in entry.rules)
    return {
        "words": table.size,
        "dim": lexicon.dim,
        "dtype": str(table.vectors.dtype),
        "words_with_vector": 0 if table.vector_rows is None else int((table.vector_rows >= 0).sum()),
        "words_with_entity_id": 0 if table.entity_ids is None else int((count_characters(table.entity_ids) > 0).sum()),
        "lengths": {int(n): int(lengths[n]) for n in np.flatnonzero(lengths)},
        "labels": dict(labels.most_common()),
        "rules": {mode: rules[mode] for mode in MODES if rules[mode]},
        "weight": [float(weights.min()), float(np.median(weights)), float(weights.max())],
        "normalise_case": lexicon.normalization.case,
        "normalise_width": lexicon.normalization.width,
        "version": f"{lexicon.version:016x}",
    }


def count_characters(strings: Strings) -> np.ndarray:
    """RETURNS (numpy.ndarray): int64[n], the number of characters of each string of a column."""
    begins = np.concatenate([[0], np.cumsum(strings.data >> 6 != CONTINUATION)])
    return np.diff(begins[strings.offsets]) - 1  # without the line feed
