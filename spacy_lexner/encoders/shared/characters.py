"""The characters of a batch of Docs."""

from typing import NamedTuple, Sequence

import numpy as np
from spacy.tokens import Doc

from ...candidates.batch_words import expand_ranges
from ...candidates.storage import batch_borders
from ...lexicon.normalization import to_codes


class Characters(NamedTuple):
    """The characters of the tokens of a batch of Docs, concatenated, without the spaces between tokens."""

    codes: np.ndarray  # uint32[n], their code points
    counts: np.ndarray  # int64[n_tokens], the characters of each token
    doc_ends: np.ndarray  # int64[n_docs], one past the last character of each Doc


def read_characters(docs: Sequence[Doc]) -> Characters:
    """Take the characters from Docs."""
    codes = to_codes("".join(doc.text for doc in docs))
    begins, stops, _ = batch_borders(docs)
    counts = stops - begins
    ends = np.append(0, np.cumsum(counts))
    if ends[-1] < len(codes):
        codes = codes[expand_ranges(begins, counts)]
    return Characters(codes, counts, ends[np.cumsum([len(doc) for doc in docs], dtype="i8")])
