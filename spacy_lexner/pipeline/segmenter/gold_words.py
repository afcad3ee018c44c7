"""Gold words as borders between predicted tokens, with parts of speech, and a report on words that cannot be
learned as they are."""

import re
from typing import Iterable, NamedTuple, Optional, Set, Tuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH, POS, TAG
from spacy.tokens import Doc
from spacy.training import Example

from ...candidates.storage import token_borders
from ...candidates.unit_docs import is_space
from ...tagging.spans.tag_scheme import Ints1d
from ...tagging.spans.word_borders import BORDER, FREE, JOINED, Borders, fixed_borders, in_words
from ..gold_report import GoldReport
from .parts_of_speech import PARTS_OF_SPEECH, PartOfSpeech

CONTEXT = 12
SPACE = re.compile(r"\s")
MISALIGNED, JOINED_WORD, CUT_WORD = "not on the boundaries of the tokenizer's tokens", "joined to a neighbour", "cut"
CONSEQUENCES = {
    MISALIGNED: "tokens should be characters, as with spacy-lexner.CharTokenizer.v1",
    JOINED_WORD: "they are parts of Latin words, numbers or signs, which are never cut",
    CUT_WORD: "they cross white space or word borders of the input, which are never joined",
}


class GoldWords(NamedTuple):
    """The annotation of an example on the predicted tokens."""

    borders: Borders  # int8[n_tokens + 1]; all FREE without annotation
    tags: Ints1d  # spaCy's number for the part of speech of each token's word; 0 if unknown
    misaligned: Ints1d  # the gold words that do not begin and end with tokens
    joined: Ints1d  # of the others, those that known borders join to the word before
    cut: Ints1d  # and those that known borders cut


def gold_words(example: Example, known: Borders, part: Optional[PartOfSpeech]) -> GoldWords:
    """Find the borders given by the annotation. Borders that are `known` without it win over it; words that they join
    have no part of speech if theirs differ. Raises ValueError if the texts differ in more than white space."""
    predicted, reference = example.predicted, example.reference
    check_texts(predicted, reference)
    tags = np.zeros(len(predicted), dtype=np.int64)
    if not is_segmented(reference) or not len(predicted):
        none = np.zeros(0, dtype=np.int64)
        return GoldWords(np.full(len(known), FREE, dtype=np.int8), tags, none, none, none)
    starts, stops, words = word_offsets(reference)
    begins, ends = solid_offsets(predicted)
    solid = ~is_space(predicted)
    borders = np.append(np.where(np.isin(begins, starts), BORDER, JOINED), BORDER).astype(np.int8)
    first = np.searchsorted(starts, begins, "right") - 1
    if part is not None:
        inside = solid & (first == np.searchsorted(stops, ends, "left"))
        tags[inside] = part.read(reference)[words[first[inside]]]
    misaligned = words[~np.isin(starts, begins) | ~np.isin(stops, ends)]
    against = solid & (known[:-1] != FREE) & (known[:-1] != borders[:-1])
    touched = (words[first[against & (known[:-1] == state)]] for state in (JOINED, BORDER))
    joined, cut = (np.setdiff1d(found, misaligned) for found in touched)
    borders = np.where(known == FREE, borders, known)
    return GoldWords(borders, _agreed(tags, borders), misaligned, joined, cut)


def survey_words(
    examples: Iterable[Example], part: Optional[PartOfSpeech]
) -> Tuple[Set[str], NDArray[np.uint64], GoldReport]:
    """Collect the parts of speech of training examples; spaCy's hashes of their words, sorted; a report on words that
    cannot be learned as they are. Raises ValueError if nothing can be learned, or if a text differs from its
    annotation."""
    labels: Set[str] = set()
    hashes = [np.zeros(0, dtype=np.uint64)]
    report = GoldReport()
    n_texts = n_segmented = 0
    option, other = next(item for item in PARTS_OF_SPEECH.items() if item[1] != part)
    has_other = True
    for example in examples:
        reference = example.reference
        found = gold_words(example, fixed_borders(example.predicted), part)
        n_texts += 1
        if not is_segmented(reference):
            continue
        n_segmented += 1
        solid = ~is_space(reference)
        report.total += int(solid.sum())
        for words, problem in ((found.misaligned, MISALIGNED), (found.joined, JOINED_WORD), (found.cut, CUT_WORD)):
            for token in (reference[i] for i in words.tolist()):
                report.add_problem(problem, reference, token.idx, token.idx + len(token))
        hashes.append(np.unique(reference.to_array([ORTH]).reshape(-1)[solid]))
        has_other = has_other and bool(other.read(reference)[solid].all())
        if part is not None:
            numbers = np.unique(part.read(reference)[solid])
            labels.update(part.label(number, reference.vocab.strings) for number in numbers[numbers != 0].tolist())
    if n_texts and not n_segmented:
        raise ValueError(
            f"None of the {n_texts} examples has words. The tokens of a reference Doc must be words, some of them of "
            "two characters or more, or have parts of speech."
        )
    if part is not None and n_segmented and not labels:
        remedy = f'All have a {other.name}: set pos = "{option}". ' if has_other else ""
        raise ValueError(
            f"The examples have words, but none has a {part.name}. {remedy}To learn words alone, set pos = null."
        )
    return labels, np.unique(np.concatenate(hashes)), report


def _agreed(tags: Ints1d, borders: Borders) -> Ints1d:
    """Set the tags of words whose tokens disagree to 0."""
    starts = np.flatnonzero(borders[:-1] == BORDER)
    low, high = np.minimum.reduceat(tags, starts), np.maximum.reduceat(tags, starts)
    return np.repeat(np.where(low == high, low, 0), np.diff(np.append(starts, len(tags))))


def is_segmented(doc: Doc) -> bool:
    """Whether the tokens of an annotated Doc are its words: some have a part of speech, or one has two Han characters
    or more. Other Docs are in characters and have no words."""
    return bool(len(doc)) and (bool(doc.to_array([POS, TAG])[~is_space(doc)].any()) or in_words(doc))


def word_offsets(doc: Doc) -> Tuple[Ints1d, Ints1d, Ints1d]:
    """First character and end (exclusive) of each word of a Doc in words, counted without white space, and its token.
    White space is not a word."""
    begins, ends = solid_offsets(doc)
    words = np.flatnonzero(~is_space(doc))
    return begins[words], ends[words], words


def solid_offsets(doc: Doc) -> Tuple[Ints1d, Ints1d]:
    """First character and end (exclusive) of each token, counted without white space."""
    begins, ends = token_borders(doc)
    spaces = np.array([match.start() for match in SPACE.finditer(doc.text)], dtype=np.int64)
    return begins - np.searchsorted(spaces, begins, "left"), ends - np.searchsorted(spaces, ends, "left")


def check_texts(predicted: Doc, reference: Doc) -> None:
    """Raise ValueError, showing where, for texts that differ in more than white space."""
    texts = predicted.text, reference.text
    if texts[0] == texts[1]:
        return
    a, b = (SPACE.sub("", text) for text in texts)
    if a == b:
        return
    place = next((i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]), min(len(a), len(b)))
    begin, end = max(0, place - CONTEXT), place + CONTEXT
    raise ValueError(
        f"The annotated Doc has a different text from the Doc it belongs to. After {place} characters, not counting "
        f"white space, they differ: {a[begin:place]!r} + {a[place:end]!r} in the Doc, {b[begin:place]!r} + "
        f"{b[place:end]!r} in the annotation. Make both from the same text."
    )
