"""Merging characters into words: a new Doc whose tokens are runs of old tokens, and checks of the component order."""

import logging
from itertools import compress
from typing import Any, Dict, List, NamedTuple

import numpy as np
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, LEMMA, MORPH, NORM, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span, SpanGroup
from thinc.api import Ragged, get_array_module
from thinc.backends import get_array_ops

from ...candidates.storage import token_borders
from ...candidates.unit_docs import BEGIN
from ...tagging.spans.tag_scheme import Ints1d
from ..wordpiece_alignment import change_alignment

logger = logging.getLogger(__name__)
TOKEN_ATTRIBUTES = [TAG, POS, MORPH, LEMMA, NORM]
SPAN_ATTRIBUTES = [ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, SENT_START]


class Merged(NamedTuple):
    """A Doc with merged tokens, and for each key of `doc.spans` the number of spans dropped because words cut them."""

    doc: Doc
    left_out: Dict[str, int]


def merge_tokens(doc: Doc, starts: Ints1d) -> Merged:
    """Build a Doc with one token for each run of tokens, in linear time. The old Doc, its Tokens and Spans stay valid.
    `starts` has the first token of each run, sorted, beginning with 0 and including all `kept_edges`.

    Text, entities, sentences, cats, user data (with candidate words and scores) and hooks are kept, as are spans of
    `doc.spans` that begin and end with a new token. A new token's row in `doc.tensor` is the mean of its parts' rows;
    its wordpieces in transformer output are all of theirs. Merged tokens have no tag, morphology, lemma or norm; a
    dependency parse is not kept.
    """
    lasts = np.append(starts[1:], len(doc)) - 1
    begins, stops = token_borders(doc)
    text = doc.text
    words = [text[i:j] for i, j in zip(begins[starts].tolist(), stops[lasts].tolist())]
    spaces = doc.to_array([SPACY]).reshape(-1)[lasts].astype(bool)
    merged = Doc(doc.vocab, words=words, spaces=spaces.tolist(), user_data=dict(doc.user_data))
    merged.from_array([*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES], _attributes(doc, starts, lasts))
    merged.has_unknown_spaces = doc.has_unknown_spaces
    merged.cats, merged.sentiment, merged._context = dict(doc.cats), doc.sentiment, doc._context
    merged.user_hooks, merged.user_token_hooks = doc.user_hooks, doc.user_token_hooks
    merged.user_span_hooks = doc.user_span_hooks
    lengths = lasts - starts + 1
    if doc.tensor is not None and len(doc.tensor) == len(doc):  # None where `doc_cleaner` has run
        merged.tensor = _mean(doc.tensor, lengths)
    change_alignment(merged.user_data, len(doc), lambda align: _merge_wordpieces(align, lengths))
    return Merged(merged, _merge_spans(merged, doc, starts))


def _attributes(doc: Doc, starts: Ints1d, lasts: Ints1d) -> Any:
    n = len(TOKEN_ATTRIBUTES)
    old = doc.to_array([*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES])
    new = old[starts]
    new[starts != lasts, :n] = 0
    blocked = np.logical_or.reduceat((old[:, n] == BEGIN) & (old[:, n + 1] == 0), starts)
    new[blocked & (new[:, n + 1] == 0), n] = BEGIN
    return new


def _mean(rows: Any, lengths: Ints1d) -> Any:
    xp = get_array_module(rows)
    return get_array_ops(rows).reduce_mean(xp.ascontiguousarray(rows, dtype="f"), xp.asarray(lengths, dtype="i"))


def _merge_wordpieces(align: Any, lengths: Ints1d) -> Ragged:
    """The alignment in which a run has the wordpieces of all its tokens."""
    xp = get_array_module(align.lengths)
    ends = xp.cumsum(xp.asarray(align.lengths))[np.cumsum(lengths) - 1]
    pieces = xp.diff(xp.concatenate([xp.zeros(1, dtype=ends.dtype), ends])).astype("i")
    return Ragged(align.dataXd, pieces)


def _merge_spans(merged: Doc, doc: Doc, starts: Ints1d) -> Dict[str, int]:
    if not doc.spans:
        return {}
    places = np.full(len(doc) + 1, -1, dtype=np.int64)
    places[starts] = np.arange(len(starts))
    places[-1] = len(starts)
    new: List[int] = places.tolist()
    left_out = {}
    for key, group in doc.spans.items():
        aligned = [new[span.start] >= 0 and new[span.end] >= 0 for span in group]
        spans = [
            Span(merged, new[span.start], new[span.end], label=span.label, kb_id=span.kb_id, span_id=span.id)
            for span in compress(group, aligned)
        ]
        attrs = dict(group.attrs)
        for name in attrs.keys() & {"scores", "offsets", "components"}:
            if len(attrs[name]) == len(group):  # one for each span
                attrs[name] = list(compress(attrs[name], aligned))
        merged.spans[key] = SpanGroup(merged, name=group.name, attrs=attrs, spans=spans)
        if len(spans) < len(group):
            left_out[key] = len(group) - len(spans)
    return left_out


def check_order(nlp: Language, name: str) -> None:
    """Check the components after `name`, which merges tokens. Raises ValueError if one of them shares an encoder before
    `name`, which reads characters; warns if one is trained on characters but will see words."""
    if name not in nlp.pipe_names:
        return
    place = nlp.pipe_names.index(name)
    later = nlp.pipeline[place + 1 :]
    for before, pipe in nlp.pipeline[:place]:
        listening = getattr(pipe, "listening_components", ())
        if lost := [component for component, _ in later if component in listening]:
            raise ValueError(
                f"{lost[0]!r} shares the encoder {before!r}, which reads characters, but comes after {name!r}, which "
                f"merges these into words. Put {name!r} after {lost[0]!r}, or let it only write its words to doc.spans "
                f"(retokenize = false), or give {lost[0]!r} an encoder of its own."
            )
    frozen = nlp.config["training"]["frozen_components"]
    learning = [c for c, pipe in later if isinstance(pipe, TrainablePipe) and c not in frozen]
    if learning and name not in nlp.config["training"]["annotating_components"]:
        logger.warning(
            "%s merges characters into words, and %s comes after it but is trained on characters, since %s is not in "
            "training.annotating_components. Add it there, or put it after %s.",
            *(name, learning[0], name, learning[0]),
        )
