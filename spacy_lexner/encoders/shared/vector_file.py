"""Vectors of characters or bigrams, from a file in the text format of word2vec."""

import warnings
from typing import Dict, List, Literal, NamedTuple, Optional

import numpy as np

from ...lexicon.normalization import Normalization
from ...lexicon.word_vectors import read_word_vectors

END = "\U0010ffff"  # stands for the end of a text in its last bigram
END_OF_FILES = "<end>"  # how files of vectors write the end of a text


class Vectors(NamedTuple):
    """Vectors from a file."""

    keys: List[str]  # characters or bigrams
    vectors: np.ndarray  # float32[n, width]
    width: int


def read_vectors(
    path: Optional[str],
    kind: Literal["characters", "bigrams"],
    random_width: int = 50,
    normalization: Normalization = Normalization(),  # noqa: B008 (immutable)
) -> Vectors:
    """Read the vectors of characters or bigrams, and leave out the rest of the file; without a file, none of
    `random_width`. In the file `<end>` ends the bigram of a last character. The keys are normalised; of several
    that become equal, the one written so counts, or else the first. Raises ValueError for a file without such
    vectors."""
    if path is None:
        return Vectors([], np.zeros((0, random_width), "f4"), random_width)
    size = 1 if kind == "characters" else 2
    found: Dict[str, np.ndarray] = {}
    n_bad = 0
    for entry in read_word_vectors(path):
        key = entry.word
        if size == 2 and key.endswith(END_OF_FILES):
            key = key[: -len(END_OF_FILES)] + END
        if len(key) != size or entry.vector is None or key in found:
            continue
        if np.isfinite(entry.vector).all():
            found[key] = entry.vector
        else:
            n_bad += 1
    if not found:
        raise ValueError(
            f"{path} holds no vectors of {kind}: keys of {size} character{'s' * (size - 1)} were expected."
        )
    if n_bad:
        warnings.warn(f"{path}: {n_bad} vectors hold NaN or infinity and were left out.", stacklevel=2)
    if any(normalization):
        changed = {key: normalization(key) for key in found}
        written = {key: vector for key, vector in found.items() if changed[key] == key}
        for key, vector in found.items():
            written.setdefault(changed[key], vector)
        found = written
    vectors = np.stack(list(found.values()))
    return Vectors(list(found), vectors, vectors.shape[1])
