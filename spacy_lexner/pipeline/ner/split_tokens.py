"""Splitting the tokens of a Doc at characters, with spaCy's retokenizer, keeping their annotation."""

from typing import Any, Dict, List

import numpy as np
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.tokens import Doc, Span, SpanGroup
from thinc.api import Ragged, to_numpy

from ...candidates.batch_words import expand_ranges
from ...candidates.storage import token_borders
from ...candidates.unit_docs import BEGIN, INSIDE
from ..wordpiece_alignment import change_alignment

ATTRIBUTES = [TAG, POS, MORPH, LEMMA, ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, SENT_START]
NO_START = np.uint64(2**64 - 1)  # -1, in SENT_START


def split_tokens(doc: Doc, places: np.ndarray) -> None:
    """Split the tokens of a Doc, in place, at those characters (int64[n]) that lie inside tokens.

    The parts of a token get its tag, part of speech, morphology, entity, row of `doc.tensor` and wordpieces, but no
    lemma. In a parsed Doc the first part keeps the head, and the others depend on it. Spans cover the same text.
    """
    cuts = find_cuts(doc, places)
    if not cuts:
        return
    n_parts = np.ones(len(doc), "i8")
    n_parts[list(cuts)] = [len(inner) + 1 for inner in cuts.values()]
    origin, firsts = np.repeat(np.arange(len(doc)), n_parts), np.cumsum(n_parts) - n_parts
    attributes, groups = doc.to_array(ATTRIBUTES), dict(doc.spans)
    tensor = doc.tensor if doc.tensor is not None and len(doc.tensor) else None  # None where `doc_cleaner` has run
    places_of = {key: [(span.start, span.end, span) for span in group] for key, group in groups.items()}
    if tensor is not None:
        doc.tensor = tensor[:0]  # the retokenizer moves one row at a time
    _retokenize(doc, cuts)
    doc.from_array(ATTRIBUTES, _inherit(attributes, origin, firsts))  # the retokenizer takes some from neighbours
    if tensor is not None:
        doc.tensor = tensor[origin]
    change_alignment(doc.user_data, len(n_parts), lambda align: _repeat_wordpieces(align, origin))
    starts, ends = firsts.tolist(), (firsts + n_parts).tolist()
    for key, group in groups.items():
        spans = [
            Span(doc, starts[start], ends[end - 1], label=old.label, kb_id=old.kb_id, span_id=old.id)
            for start, end, old in places_of[key]
        ]
        doc.spans[key] = SpanGroup(doc, name=group.name, attrs=dict(group.attrs), spans=spans)


def find_cuts(doc: Doc, places: np.ndarray) -> Dict[int, List[int]]:
    """For each token with such characters inside, the offsets within the token at which to cut."""
    begins, stops = token_borders(doc)
    token = np.searchsorted(begins, places, "right") - 1
    inside = (places > begins[token]) & (places < stops[token])
    cuts: Dict[int, List[int]] = {}
    for i, place in sorted(set(zip(token[inside].tolist(), places[inside].tolist()))):
        cuts.setdefault(i, []).append(place - int(begins[i]))
    return cuts


def _retokenize(doc: Doc, cuts: Dict[int, List[int]]) -> None:
    parsed = doc.has_annotation("DEP")
    with doc.retokenize() as retokenizer:
        for token, inner in ((doc[i], inner) for i, inner in cuts.items()):
            parts = [token.text[a:b] for a, b in zip([0, *inner], [*inner, len(token)])]
            heads: List[Any] = [(token, part) for part in range(len(parts))]
            attrs: Dict[Any, List[Any]] = {}
            if parsed:
                root = token.head.i == token.i
                heads = [(token, 0) if root else token.head, *[(token, 0)] * len(inner)]
                attrs = {"DEP": [token.dep_, *["dep"] * len(inner)]}
            retokenizer.split(token, parts, heads=heads, attrs=attrs)


def _inherit(attributes: np.ndarray, origin: np.ndarray, firsts: np.ndarray) -> Any:
    """The attributes of the new tokens, from those of the old ones."""
    new = attributes[origin]
    later = np.ones(len(origin), bool)
    later[firsts] = False
    iob, kind, start = (ATTRIBUTES.index(name) for name in (ENT_IOB, ENT_TYPE, SENT_START))
    new[later & (new[:, iob] == BEGIN) & (new[:, kind] != 0), iob] = INSIDE
    new[later & (new[:, start] == 1), start] = NO_START
    whole = np.bincount(origin)[origin] == 1
    new[~whole, ATTRIBUTES.index(LEMMA)] = 0
    return new


def _repeat_wordpieces(align: Any, origin: np.ndarray) -> Ragged:
    """The alignment in which the parts of a token have its wordpieces."""
    lengths: Any = np.asarray(to_numpy(align.lengths), "i8")
    index = expand_ranges((np.cumsum(lengths) - lengths)[origin], lengths[origin])
    return Ragged(align.dataXd[index], align.lengths[origin])
