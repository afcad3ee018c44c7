"""Gold words as borders between the predicted tokens, with parts of speech."""

import re
from typing import NamedTuple, Optional, Tuple

import numpy as np
from spacy.attrs import POS, TAG
from spacy.tokens import Doc
from spacy.training import Example

from ...candidates.storage import token_borders
from ...tagging.spans.tag_scheme import Ints1d
from ...tagging.spans.word_borders import BORDER, FREE, JOINED, Borders, in_words, is_space
from .parts_of_speech import PartOfSpeech

CONTEXT = 12
SPACE = re.compile(r"\s")


class GoldWords(NamedTuple):
    """What the annotation of an example says about the predicted tokens.

    borders (Borders): The borders, int8[n_tokens + 1]; all FREE where there is no annotation.
    tags (Ints1d): The part of speech of each token's word, as spaCy's number for it; 0 if it is not known.
    misaligned (Ints1d): The gold words whose edges are not token edges.
    joined (Ints1d), cut (Ints1d): Of the others, those that the rules join to the word before, and those that they cut.
    """

    borders: Borders
    tags: Ints1d
    misaligned: Ints1d
    joined: Ints1d
    cut: Ints1d


def gold_words(example: Example, rules: Borders, part: Optional[PartOfSpeech]) -> GoldWords:
    """Find the borders that the annotation gives, within what the rules leave. Where the rules join words of different
    parts of speech, the result has none.

    example (Example): A predicted and an annotated Doc of the same text, up to white space.
    rules (Borders): The borders that are known without the annotation.
    part (Optional[PartOfSpeech]): Which part of speech to read.
    RETURNS (GoldWords): The words. Raises ValueError for different texts.
    """
    predicted, reference = example.predicted, example.reference
    check_texts(predicted, reference)
    tags = np.zeros(len(predicted), dtype=np.int64)
    if not is_segmented(reference) or not len(predicted):
        none = np.zeros(0, dtype=np.int64)
        return GoldWords(np.full(len(rules), FREE, dtype=np.int8), tags, none, none, none)
    starts, stops, words = word_offsets(reference)
    begins, ends = solid_offsets(predicted)
    solid = ~is_space(predicted)
    borders = np.append(np.where(np.isin(begins, starts), BORDER, JOINED), BORDER).astype(np.int8)
    first = np.searchsorted(starts, begins, "right") - 1
    if part is not None:
        inside = solid & (first == np.searchsorted(stops, ends, "left"))
        tags[inside] = part.read(reference)[words[first[inside]]]
    misaligned = words[~np.isin(starts, begins) | ~np.isin(stops, ends)]
    against = solid & (rules[:-1] != FREE) & (rules[:-1] != borders[:-1])
    touched = (words[first[against & (rules[:-1] == state)]] for state in (JOINED, BORDER))
    joined, cut = (np.setdiff1d(found, misaligned) for found in touched)
    borders = np.where(rules == FREE, borders, rules)
    return GoldWords(borders, _agreed(tags, borders), misaligned, joined, cut)


def _agreed(tags: Ints1d, borders: Borders) -> Ints1d:
    """The tags, without those of words whose tokens have different ones."""
    starts = np.flatnonzero(borders[:-1] == BORDER)
    low, high = np.minimum.reduceat(tags, starts), np.maximum.reduceat(tags, starts)
    return np.repeat(np.where(low == high, low, 0), np.diff(np.append(starts, len(tags))))


def is_segmented(doc: Doc) -> bool:
    """RETURNS (bool): Whether the tokens of an annotated Doc are its words: some have a part of speech, or one holds
    two Han characters or more. Other Docs are in characters, and do not say what their words are."""
    return bool(len(doc)) and (bool(doc.to_array([POS, TAG])[~is_space(doc)].any()) or in_words(doc))


def word_offsets(doc: Doc) -> Tuple[Ints1d, Ints1d, Ints1d]:
    """RETURNS (Tuple[Ints1d, Ints1d, Ints1d]): First character of each word of a Doc in words, one past its last, both
    counted without white space, and the number of its token. White space is no word."""
    begins, ends = solid_offsets(doc)
    words = np.flatnonzero(~is_space(doc))
    return begins[words], ends[words], words


def solid_offsets(doc: Doc) -> Tuple[Ints1d, Ints1d]:
    """RETURNS (Tuple[Ints1d, Ints1d]): First character of each token, and one past its last, counted without white
    space."""
    begins, ends = token_borders(doc)
    spaces = np.array([match.start() for match in SPACE.finditer(doc.text)], dtype=np.int64)
    return begins - np.searchsorted(spaces, begins, "left"), ends - np.searchsorted(spaces, ends, "left")


def check_texts(predicted: Doc, reference: Doc) -> None:
    """Raise ValueError for texts that differ in more than white space, showing both where they begin to."""
    texts = predicted.text, reference.text
    if texts[0] == texts[1]:
        return
    a, b = (SPACE.sub("", text) for text in texts)
    if a == b:
        return
    place = next((i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]), min(len(a), len(b)))
    begin, end = max(0, place - CONTEXT), place + CONTEXT
    raise ValueError(
        f"The annotated Doc has another text than the Doc it belongs to. After {place} characters, white space not "
        f"counted, they go on differently: {a[begin:place]!r} + {a[place:end]!r} in the Doc, "
        f"{b[begin:place]!r} + {b[place:end]!r} in the annotation. Make both from the same text."
    )
