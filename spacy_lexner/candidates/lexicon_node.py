"""The node of a model that sees the lexicon: Docs in, candidate words on tokens out."""

from typing import Callable, List, NamedTuple, Optional, Tuple

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..lexicon.lexicon import Lexicon
from .lexicon_link import LexiconLink
from .storage import Candidates, find_candidates, get_candidates, token_spans

NODE_NAME = "lexicon"


class DocCandidates(NamedTuple):
    """The candidate words of a Doc, on its tokens, ordered by start, then by length.

    first (numpy.ndarray): int64[n], first token.
    last (numpy.ndarray): int64[n], last token (inclusive).
    hashes (numpy.ndarray): uint64[n], hash of the lexicon word.
    lexicon (Lexicon): The lexicon that they belong to.
    """

    first: np.ndarray
    last: np.ndarray
    hashes: np.ndarray
    lexicon: Lexicon


def LexiconCandidates() -> Model[List[Doc], List[DocCandidates]]:
    """Give the candidate words of each Doc.

    What a `lex_matcher` stored in the Doc is used if the linked source still knows the lexicon it came from; any other
    Doc is matched here, with the
    linked lexicon, so that training, pretraining and prediction see the same words.

    RETURNS (Model[List[Doc], List[DocCandidates]]): The layer. Raises ValueError where no lexicon is linked.
    """
    return Model(NODE_NAME, forward, attrs={"link": LexiconLink()})


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[List[DocCandidates], Callable]:
    source = model.attrs["link"].require()
    current = source.matcher
    if current is None:
        raise ValueError(
            "The `lex_matcher` that is linked to the model has no lexicon. Give it one: "
            "`[initialize.components.lex_matcher.lexicon]` in the config, lex_matcher.add_words([...]) or "
            "lex_matcher.set_lexicon(Lexicon.open(path))."
        )
    found: List[Optional[Tuple[Candidates, Lexicon]]] = []
    for doc in docs:
        stored = get_candidates(doc)
        matcher = source.get(stored[0]) if stored is not None else None
        found.append((stored[1], matcher.lexicon) if stored is not None and matcher is not None else None)
    unknown = [i for i, pair in enumerate(found) if pair is None]
    for i, candidates in zip(unknown, find_candidates(current, [docs[i] for i in unknown])):
        found[i] = (candidates, current.lexicon)
    return [_on_tokens(doc, *pair) for doc, pair in zip(docs, found) if pair is not None], lambda gradient: []


def _on_tokens(doc: Doc, candidates: Candidates, lexicon: Lexicon) -> DocCandidates:
    starts, ends, keep = token_spans(doc, candidates)
    return DocCandidates(starts[keep], ends[keep] - 1, candidates.hashes[keep], lexicon)
