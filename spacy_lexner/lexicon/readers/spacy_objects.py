"""Reading spaCy's word vectors and knowledge bases."""

from typing import Any, Iterator

import numpy as np

from ..entry import EntryStream, LexiconEntry
from ..errors import LexiconError

VECTORS = "nlp.vocab.vectors"


def read_vocab_vectors(vocab: Any) -> EntryStream:
    """Read the words of a spaCy Vocab that have a vector; vectors are not copied. Raises LexiconError if there are no
    vectors, or they do not belong to words."""
    if vocab.vectors.mode != "default":
        raise LexiconError(
            f"The vocabulary's vectors have the mode {vocab.vectors.mode!r}: they are computed from parts of words, so "
            "there is no list of words. Use vectors with the mode 'default'."
        )
    if not vocab.vectors.n_keys:
        raise LexiconError("The vocabulary has no word vectors. Load a pipeline with vectors, such as zh_core_web_md.")

    def entries() -> Iterator[LexiconEntry]:
        for key, vector in vocab.vectors.items():
            if key not in vocab.strings:
                raise LexiconError(f"{VECTORS}: the word with key {key} is missing from the vocabulary's strings.")
            yield LexiconEntry(vocab.strings[key], _to_numpy(vector))

    return EntryStream(VECTORS, enumerate(entries(), 1))


def read_knowledge_base(kb: Any) -> EntryStream:
    """Read the aliases of an InMemoryLookupKB, sorted, each with the id and vector of its most probable entity, and the
    prior probability as weight; without vectors if those of the KB have length 0. Aliases of no entity are skipped.
    Raises LexiconError if there are no aliases."""
    if not (hasattr(kb, "get_alias_strings") and hasattr(kb, "get_alias_candidates")):
        raise LexiconError(f"{type(kb).__name__} cannot list its aliases; expected a spacy.kb.InMemoryLookupKB.")
    if not kb.get_size_aliases():
        raise LexiconError("The knowledge base has no aliases. Add them with kb.add_alias(...).")

    def entries() -> Iterator[LexiconEntry]:
        for alias in sorted(kb.get_alias_strings()):
            candidates = kb.get_alias_candidates(alias)
            if not candidates:
                continue
            best = min(candidates, key=lambda candidate: (-candidate.prior_prob, candidate.entity_))
            vector = _to_numpy(best.entity_vector)
            yield LexiconEntry(alias, vector if len(vector) else None, best.prior_prob, "", best.entity_)

    return EntryStream("knowledge base", enumerate(entries(), 1))


def _to_numpy(vector: Any) -> np.ndarray:
    """A vector that may be on a GPU, or a list."""
    return np.asarray(vector.get() if hasattr(vector, "get") else vector, "f4")
