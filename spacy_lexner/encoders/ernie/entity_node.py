"""The node of a model that links entities, from Docs to linked mentions."""

from typing import Any, Callable, Dict, List, Literal, Optional, Tuple, get_args

import numpy as np
from spacy.tokens import Doc
from spacy.util import logger
from thinc.api import Model

from ...candidates.lexicon_node import LexiconCandidates, linked_matcher
from ...candidates.storage import align_candidates
from ...lexicon.level import Candidates
from ...lexicon.lexicon import Lexicon
from .entities import DocEntities, Overlaps, choose_mentions

EntitySource = Literal["candidates", "ents"]
MAX_CACHED = 1_000_000


class EntityCounts:
    """Counts linked mentions, and those whose entities have no vector. Never saved with the model."""

    def __init__(self) -> None:
        self.n_mentions = 0
        self.n_missing = 0
        self.missing = ""

    def add(self, entities: DocEntities) -> None:
        """Count the mentions of a Doc; warn at the first entity without a vector."""
        self.n_mentions += len(entities.ids)
        self.n_missing += int((~entities.known).sum())
        if self.n_missing and not self.missing:
            self.missing = entities.ids[int(np.flatnonzero(~entities.known)[0])]
            logger.warning(
                "The lexicon has no vector for the entity '%s'. The encoder ignores mentions of such entities; the "
                "model's entity counts have their number (n_missing).",
                self.missing,
            )


class LexiconEntities:
    """The entities that the words of a lexicon name, and the words that have the vectors of entities. Entries are
    cached on demand and do not depend on the thread that computes them, so threads may share the caches."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._ids: Dict[int, str] = {}
        self._words: Optional[Dict[str, int]] = None

    def ids(self, text: str, words: Candidates) -> List[str]:
        """RETURNS (List[str]): The entity of each candidate word of a text, "" for none."""
        cache, ids = self._ids, []
        for start, end, key in zip(*(column.tolist() for column in words)):
            entity_id = cache.get(key)
            if entity_id is None:
                entry = self.lexicon.get(text[start:end])
                entity_id = cache[key] = "" if entry is None else entry.entity_id
            ids.append(entity_id)
        if len(cache) > MAX_CACHED:
            self._ids = {}
        return ids

    def hashes(self, ids: List[str]) -> np.ndarray:
        """RETURNS (numpy.ndarray): For each entity the hash of a word that has its vector, uint64[n]: the id itself if
        it is a lexicon word with a vector, otherwise the first such word that names it."""
        own = np.array([self.lexicon.hash(entity_id) for entity_id in ids], "u8")
        known = self.lexicon.vectors(own)[1]
        if known.all():
            return own
        words = self._words
        if words is None:
            words = self._words = self._first_words()
        named = [words.get(entity_id) for entity_id in ids]
        return np.array([a if k or b is None else b for a, b, k in zip(own.tolist(), named, known.tolist())], "u8")

    def _first_words(self) -> Dict[str, int]:
        words: Dict[str, int] = {}
        for entry in self.lexicon.entries():
            if entry.entity_id and entry.vector is not None:
                words.setdefault(entry.entity_id, self.lexicon.hash(entry.word))
        return words


class EntityIndex:
    """A cache of the entities of the last used lexicon."""

    def __init__(self) -> None:
        self._entities: Optional[LexiconEntities] = None

    def of(self, lexicon: Lexicon) -> LexiconEntities:
        """RETURNS (LexiconEntities): The entities of a lexicon, even if another thread uses a different one
        meanwhile."""
        entities = self._entities
        if entities is None or entities.lexicon.version != lexicon.version:
            entities = self._entities = LexiconEntities(lexicon)
        return entities

    def __deepcopy__(self, memo: Dict[int, Any]) -> "EntityIndex":
        return EntityIndex()


def EntityLinks(
    source: EntitySource = "candidates", overlaps: Overlaps = "longest", words: Optional[Model] = None
) -> Model[List[Doc], List[DocEntities]]:
    """Build the layer that finds the mentions of each Doc, and the vectors of their entities in the linked lexicon.

    source (str): "candidates": lexicon words that have an entity id. "ents": the entities of `doc.ents` that have a
        `kb_id_`; their vector is that of the lexicon word of that name, or of the first word with that entity id that
        has one.
    overlaps (str): For candidates, see `choose_mentions`.
    words (Optional[Model[List[Doc], List[Tuple[Candidates, Lexicon]]]]): The node that finds the candidates.
    """
    if source not in get_args(EntitySource):
        raise ValueError(f"Unknown source of entities {source!r}. Choose one of {get_args(EntitySource)}.")
    choose_mentions(np.zeros(0, "i8"), np.zeros(0, "i8"), overlaps)  # raises for an unknown rule
    attrs = {"source": source, "overlaps": overlaps, "index": EntityIndex(), "counts": EntityCounts()}
    return Model("entities", forward, layers=[words or LexiconCandidates()], attrs=attrs)


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[List[DocEntities], Callable]:
    if model.attrs["source"] == "candidates":
        candidates = zip(docs, model.layers[0](docs, is_train)[0])
        found = [_from_candidates(model, doc, words, lexicon) for doc, (words, lexicon) in candidates]
    else:
        lexicon = linked_matcher(model.layers[0]).lexicon
        found = [_from_ents(model, doc, lexicon) for doc in docs]
    for entities in found:
        model.attrs["counts"].add(entities)
    return found, lambda gradient: []


def _from_candidates(model: Model, doc: Doc, words: Candidates, lexicon: Lexicon) -> DocEntities:
    entities: LexiconEntities = model.attrs["index"].of(lexicon)
    words = align_candidates(doc, words)
    all_ids = entities.ids(doc.text, words)
    named = np.flatnonzero([bool(entity_id) for entity_id in all_ids])
    chosen = named[choose_mentions(words.starts[named], words.ends[named], model.attrs["overlaps"])]
    ids = [all_ids[i] for i in chosen.tolist()]
    vectors, known = lexicon.vectors(words.hashes[chosen])
    missing = np.flatnonzero(~known)
    if len(missing):
        hashes = entities.hashes([ids[i] for i in missing.tolist()])
        vectors[missing], known[missing] = lexicon.vectors(hashes)
    return DocEntities(words.starts[chosen], words.ends[chosen], ids, vectors, known)


def _from_ents(model: Model, doc: Doc, lexicon: Lexicon) -> DocEntities:
    ents = [ent for ent in doc.ents if ent.kb_id_]
    ids = [ent.kb_id_ for ent in ents]
    vectors, known = lexicon.vectors(model.attrs["index"].of(lexicon).hashes(ids))
    starts, ends = np.array([(ent.start_char, ent.end_char) for ent in ents], "i8").reshape(-1, 2).T
    return DocEntities(starts, ends, ids, vectors, known)
