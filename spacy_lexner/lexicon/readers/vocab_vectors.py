"""The word vectors of a spaCy vocabulary."""

from typing import Any, Iterator

import numpy as np

from ..entry import LexiconEntry
from ..errors import LexiconError
from ..stream import EntryStream

SOURCE = "nlp.vocab.vectors"


def read_vocab_vectors(vocab: Any) -> EntryStream:
    """Read the words that have a vector in a vocabulary.

    vocab (spacy.vocab.Vocab): The vocabulary; its vectors are not copied.
    RETURNS (EntryStream): The entries. Raises LexiconError where there are no vectors, or they belong to no words.
    """
    if vocab.vectors.mode != "default":
        raise LexiconError(
            f"The vectors of the vocabulary are of the kind {vocab.vectors.mode!r}, computed from parts of words: they "
            "list no words. Use vectors of the kind 'default'."
        )
    if not vocab.vectors.n_keys:
        raise LexiconError("The vocabulary has no word vectors. Load a pipeline that has, such as zh_core_web_md.")
    return EntryStream(SOURCE, enumerate(_read(vocab), 1))


def _read(vocab: Any) -> Iterator[LexiconEntry]:
    for key, vector in vocab.vectors.items():
        if key not in vocab.strings:
            raise LexiconError(
                f"{SOURCE}: the vector of key {key} belongs to a word that the vocabulary's strings do not hold."
            )
        yield LexiconEntry(vocab.strings[key], to_numpy(vector))


def to_numpy(vector: Any) -> np.ndarray:
    """RETURNS (numpy.ndarray): A vector that may lie on a GPU or be a list."""
    return np.asarray(vector.get() if hasattr(vector, "get") else vector, "f4")
