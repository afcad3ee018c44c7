"""The unit Doc of a Doc: its tokens are the units that encoders read and taggers of ours tag. In languages written
without spaces units are characters, whatever the tokens of a Doc are; in others they are its tokens."""

import re
from itertools import repeat
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.attrs import IS_SPACE, LENGTH
from spacy.tokens import Doc
from thinc.api import Model

from .doc_parts import ENTITY_ATTRIBUTES
from .storage import count_characters, is_unspaced, token_borders

WHITE_SPACE = re.compile(r"\s+")
READS_TOKENS = "reads_tokens"  # an attribute of nodes
MISSING, INSIDE, OUTSIDE, BEGIN = range(4)  # ENT_IOB; a token that begins an entity without a type is blocked


class UnitRanges(NamedTuple):
    """The units of each token of a batch of Docs, whose units are numbered consecutively."""

    starts: np.ndarray  # int64[n_tokens], the first
    counts: np.ndarray  # int64[n_tokens], their number, at least one

    @property
    def ends(self) -> np.ndarray:
        """One past the last unit of each token."""
        return self.starts + self.counts


def make_unit_docs(docs: Sequence[Doc]) -> List[Doc]:
    """The unit Doc of each Doc: the Doc itself if its tokens are units. User data is shared, not copied, so candidates
    and everything else stored by characters applies to both. Entities are carried over."""
    return [doc if has_units(doc) else carry_entities(doc, split_doc(doc)) for doc in docs]


def has_units(doc: Doc) -> bool:
    """Whether the tokens of a Doc are units: in a language written without spaces, whether they are characters and
    runs of white space."""
    if not is_unspaced(doc) or len(doc) == count_characters(doc):
        return True
    lengths, is_space = doc.to_array([LENGTH, IS_SPACE]).T
    return not ((lengths > 1) & (is_space == 0)).any()


def is_space(doc: Doc) -> Any:
    """Which tokens are white space, bool[n_tokens]. Spans may contain such tokens, but not begin or end with them."""
    return doc.to_array("IS_SPACE").astype(bool)


def split_doc(doc: Doc) -> Doc:
    """Make a Doc of the same text, in characters, that shares the user data and has no other annotation."""
    words, spaces = split_characters(doc.text)
    unit_doc = Doc(doc.vocab, words=words, spaces=spaces, user_data=doc.user_data)
    unit_doc.has_unknown_spaces = doc.has_unknown_spaces
    return unit_doc


def split_characters(text: str) -> Tuple[List[str], List[bool]]:
    """Split a text as spaCy's `char` segmenter does: the words, and for each whether it is followed by one space that
    is not a token. Python steps through runs of white space only, not through characters."""
    words: List[str] = []
    spaces: List[bool] = []
    position = 0
    for run in WHITE_SPACE.finditer(text):
        start, end = run.span()
        words.extend(text[position:start])
        spaces.extend(repeat(False, start - position))
        position = end
        if start > 0 and text[start] == " ":
            spaces[-1] = True
            start += 1
        if start < end:
            words.append(text[start:end])
            spaces.append(False)
    words.extend(text[position:])
    spaces.extend(repeat(False, len(text) - position))
    return words, spaces


def carry_entities(doc: Doc, unit_doc: Doc, places: Optional[Sequence[Tuple[int, int]]] = None) -> Doc:
    """Give the unit Doc of a Doc its entities, blocked tokens and missing annotation, and return it. `places` are the
    characters (start, end) of the entities, if not those of their tokens."""
    given = doc.to_array(ENTITY_ATTRIBUTES)
    if not given[:, 0].any():
        return unit_doc
    tokens = np.searchsorted(token_borders(doc)[0], token_borders(unit_doc)[0], "right") - 1
    iob, kinds = given[tokens, :2].T
    carried = np.zeros((len(unit_doc), len(ENTITY_ATTRIBUTES)), "u8")
    carried[:, 0] = np.where(iob == MISSING, MISSING, np.where((iob == BEGIN) & (kinds == 0), BEGIN, OUTSIDE))
    ents = doc.ents
    starts, ends = np.array(places or [(ent.start_char, ent.end_char) for ent in ents], "i8").reshape(-1, 2).T
    first, last = covering(unit_doc, starts, ends)
    first[1:] = np.maximum(first[1:], last[:-1])  # two entities may touch the same run of white space
    for ent, start, end in zip(ents, first.tolist(), last.tolist()):
        carried[start:end] = [INSIDE, ent.label, ent.kb_id, ent.id]
        carried[start : min(start + 1, end), 0] = BEGIN
    return unit_doc.from_array(ENTITY_ATTRIBUTES, carried)  # type: ignore[arg-type]


def covering(doc: Doc, starts: np.ndarray, ends: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The tokens (first, end) that spans of characters touch, int64[n] each. White space after a token touches that
    token only if the span covers nothing else."""
    begins, stops = token_borders(doc)
    first, last = np.searchsorted(begins, starts, "right") - 1, np.searchsorted(begins, ends, "left")
    return first + ((starts >= stops[first]) & (last - first > 1) if len(first) else 0), last


def units_of_tokens(docs: Sequence[Doc], unit_docs: Sequence[Doc]) -> Optional[UnitRanges]:
    """The units of each token; None if every Doc is its own unit Doc. A white-space token that is not a unit gets the
    unit before it."""
    if all(doc is unit_doc for doc, unit_doc in zip(docs, unit_docs)):
        return None
    starts, counts, offset = [np.zeros(0, "i8")], [np.zeros(0, "i8")], 0
    for doc, unit_doc in zip(docs, unit_docs):
        if doc is unit_doc:
            first, last = np.arange(len(doc)), np.arange(1, len(doc) + 1)
        else:
            first, last = covering(unit_doc, *token_borders(doc))
        starts.append(first + offset)
        counts.append(last - first)
        offset += len(unit_doc)
    return UnitRanges(np.concatenate(starts), np.concatenate(counts))


def find_token_reader(model: Model) -> Optional[Model]:
    """The first node of a model that can only read the tokens of a Doc as they are: a listener, ELMo; None if it has
    none."""
    return next((node for node in model.walk() if hasattr(node, "receive") or node.attrs.get(READS_TOKENS)), None)


def find_listener(model: Model) -> Optional[Model]:
    """The first node of a model that listens to a shared encoder of spaCy or spacy-transformers, whose vectors are
    those of tokens; None if it has none."""
    return next((node for node in model.walk() if hasattr(node, "receive")), None)
