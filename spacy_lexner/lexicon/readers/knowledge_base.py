"""The aliases of a spaCy knowledge base."""

from typing import Any, Iterator

from ..entry import LexiconEntry
from ..errors import LexiconError
from ..stream import EntryStream
from .vocab_vectors import to_numpy

SOURCE = "knowledge base"


def read_knowledge_base(kb: Any) -> EntryStream:
    """Read the aliases of a knowledge base, each with the id and vector of the entity that it most probably names; the
    prior probability becomes the weight. Entities of a knowledge base with vectors of length 0 have none.

    kb (spacy.kb.InMemoryLookupKB): The knowledge base.
    RETURNS (EntryStream): The entries, ordered by alias. Raises LexiconError where there are none.
    """
    if not (hasattr(kb, "get_alias_strings") and hasattr(kb, "get_alias_candidates")):
        raise LexiconError(f"{type(kb).__name__} cannot list its aliases; expected a spacy.kb.InMemoryLookupKB.")
    if not kb.get_size_aliases():
        raise LexiconError("The knowledge base has no aliases. Add them with kb.add_alias(...).")
    return EntryStream(SOURCE, enumerate(_read(kb), 1))


def _read(kb: Any) -> Iterator[LexiconEntry]:
    for alias in sorted(kb.get_alias_strings()):
        best = min(kb.get_alias_candidates(alias), key=lambda candidate: (-candidate.prior_prob, candidate.entity_))
        vector = to_numpy(best.entity_vector)
        yield LexiconEntry(alias, vector if len(vector) else None, best.prior_prob, "", best.entity_)
