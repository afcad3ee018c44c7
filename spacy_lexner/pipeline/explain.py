"""Explaining entities by candidate words: the attention to each word, and the change of scores without it."""

from contextlib import contextmanager
from typing import Any, Dict, Iterable, Iterator, List, Optional, Protocol, Sequence, Tuple, Union, runtime_checkable

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch
from thinc.api import Model

from ..candidates.doc_parts import copy_tokens
from ..candidates.lexicon_node import NODE_NAME, LexiconLink, matcher_of
from ..candidates.storage import Candidates, find_candidates, get_candidates, set_candidates, token_spans
from ..lexicon.matcher import Matcher
from .entity_words import add_words_extension, find_attending, set_words, words_of_entities
from .exact_offsets import exact_spans

Place = Tuple[int, int]


@runtime_checkable
class EntityScorer(Protocol):
    """What `explain` needs of a `lex_ner`."""

    name: str
    model: Model
    labels: Tuple[str, ...]
    note_words: bool  # whether it records the words that entities rest on

    def unit_docs(self, docs: Iterable[Doc]) -> List[Doc]:
        """The Docs that its model reads."""

    def score_spans(self, docs: Iterable[Doc], spans: Sequence[Sequence[Tuple[int, int, str]]]) -> List[List[float]]:
        """The scores of spans (start, end, label) of Docs as entities."""


def find_scorers(nlp: Language) -> Dict[str, EntityScorer]:
    """The components of a pipeline that score entities, by name."""
    pipes: Dict[str, Any] = dict(nlp.pipeline)
    return {name: pipe for name, pipe in pipes.items() if isinstance(pipe, EntityScorer)}


@contextmanager
def note_words(nlp: Language) -> Iterator[None]:
    """Make every `lex_ner` of a pipeline record in `ent._.lex_words` the candidate words that entities rest on."""
    pipes = list(find_scorers(nlp).values())
    before = [pipe.note_words for pipe in pipes]
    for pipe in pipes:
        pipe.note_words = True
    try:
        yield
    finally:
        for pipe, setting in zip(pipes, before):
            pipe.note_words = setting


def explain(
    nlp: Language,
    docs: Union[Doc, Iterable[Doc]],
    *,
    changes: bool = True,
    component: Optional[str] = None,
    batch_size: int = 64,
) -> None:
    """Record in `ent._.lex_words` the candidate words that share tokens with each entity, the entity's attention to
    each word, and the change of its score without the word. The change is measured by running the model, for each
    word, on a variant of the Doc whose lattice lacks it.

    nlp (Language): The pipeline.
    docs (Union[Doc, Iterable[Doc]]): Docs processed by the pipeline.
    changes (bool): Whether to measure the changes of scores.
    component (Optional[str]): The `lex_ner` that found the entities, if there is more than one.
    batch_size (int): Number of variants per batch. Raises ValueError if the pipeline has no such component, or its
        model reads no words.
    """
    add_words_extension()
    reader = _Reader(nlp, component)
    for doc in [docs] if isinstance(docs, Doc) else docs:
        with reader.link.require().pinned():
            reader.note_words(doc, changes, batch_size)


class _Reader:
    """The components that together find a pipeline's entities."""

    def __init__(self, nlp: Language, component: Optional[str]) -> None:
        pipes = find_scorers(nlp)
        if component not in pipes and not (component is None and len(pipes) == 1):
            raise ValueError(
                f"component = {component!r}: expected the name of a lex_ner in the pipeline, which has "
                f"{', '.join(pipes) or 'none'}."
            )
        self.ner: EntityScorer = next(iter(pipes.values())) if component is None else pipes[component]
        self.upstream: List[Any] = [  # components with a shared encoder that `ner` listens to: tok2vec, transformer
            pipe for _, pipe in nlp.pipeline if self.ner.name in getattr(pipe, "listening_components", ())
        ]
        self.models: List[Model] = [self.ner.model, *(pipe.model for pipe in self.upstream)]
        nodes = [node for model in self.models for node in model.walk() if node.name == NODE_NAME]
        if not nodes:
            raise ValueError(f"The model of {self.ner.name!r} reads no candidate words, so its entities rest on none.")
        self.link: LexiconLink = nodes[0].attrs["link"]

    def note_words(self, doc: Doc, changes: bool, batch_size: int) -> None:
        """Record the words of a Doc's entities."""
        matcher = matcher_of(self.link.require(), doc)
        if matcher is None or not doc.ents:
            set_words(doc, [(ent, []) for ent in doc.ents])
            return
        (unit_doc,) = self.ner.unit_docs([doc])
        ents = exact_spans(doc, unit_doc)
        stored = get_candidates(doc)
        known = stored is not None and stored[0] == matcher.version
        candidates = stored[1] if stored is not None and known else find_candidates(matcher, [doc])[0]
        base = make_variant(unit_doc, matcher, candidates)
        starts, ends, kept = token_spans(unit_doc, candidates)
        places = {i: (int(starts[i]), int(ends[i])) for i in np.flatnonzero(kept).tolist()}
        attending, attended = find_attending(self.models), None
        if attending is not None:
            self._encode([base])
            (attended,) = attending.attrs["attend"](attending, [base])
        measured = self._measure(ents, base, matcher, candidates, places, batch_size) if changes else None
        set_words(doc, zip(doc.ents, words_of_entities(ents, list(places.values()), attended, measured)))

    def _measure(
        self,
        ents: Sequence[Span],
        base: Doc,
        matcher: Matcher,
        candidates: Candidates,
        places: Dict[int, Place],
        batch_size: int,
    ) -> Dict[Place, Dict[Place, float]]:
        """Measure for each entity the change of its score without each word."""
        ents = [ent for ent in ents if ent.label_ in self.ner.labels]
        wanted = [i for i, (start, end) in places.items() if any(start < ent.end and ent.start < end for ent in ents)]
        without = (
            make_variant(base, matcher, Candidates(*(np.delete(part, i) for part in candidates))) for i in wanted
        )
        before, *after = self._scores([base], ents) + [
            scores for batch in minibatch(without, batch_size) for scores in self._scores(batch, ents)
        ]
        changes: Dict[Place, Dict[Place, float]] = {(ent.start, ent.end): {} for ent in ents}
        for i, scores in zip(wanted, after):
            for ent, old, new in zip(ents, before, scores):
                changes[ent.start, ent.end][places[i]] = new - old
        return changes

    def _scores(self, docs: Sequence[Doc], ents: Sequence[Span]) -> List[List[float]]:
        self._encode(docs)
        return self.ner.score_spans(docs, [[(ent.start, ent.end, ent.label_) for ent in ents]] * len(docs))

    def _encode(self, docs: Sequence[Doc]) -> None:
        for pipe in self.upstream:
            pipe.set_annotations(docs, pipe.predict(docs))


def make_variant(doc: Doc, matcher: Matcher, candidates: Candidates) -> Doc:
    """Copy the tokens of a Doc, and nothing else, with these candidate words."""
    variant = copy_tokens(doc)
    set_candidates(variant, matcher.version, candidates)
    return variant
