"""Correcting a dictionary by a few annotated texts."""

from collections import Counter
from typing import Dict, List, Sequence, Set

from spacy.tokens import Doc

from ..lexicon.entry import Labels, find_word_fault, join_labels
from ..lexicon.rule_file import MAX_WORD_LENGTH
from .dictionary import Dictionary
from .label import KNOWN, Labeller, Occurrence


def correct(dictionary: Dictionary, docs: Sequence[Doc]) -> Dictionary:
    """Add the entities of annotated texts to a dictionary, and forbid words that are entities there less often than
    not: their occurrences are then not labelled. Tokens without annotation count neither for nor against a word.

    dictionary (Dictionary): The words.
    docs (Sequence[Doc]): Annotated texts.
    RETURNS (Dictionary): The corrected dictionary.
    """
    labels: Dict[str, Labels] = dict(dictionary.labels)
    for ent in (ent for doc in docs for ent in doc.ents):
        word = dictionary.normalization.word(ent.text)
        if find_word_fault(word, MAX_WORD_LENGTH) is None:
            labels[word] = join_labels(labels.get(word, ()), (ent.label_,))
    return Dictionary(labels, dictionary.forbidden | _wrong_words(dictionary, docs), dictionary.normalization)


def _wrong_words(dictionary: Dictionary, docs: Sequence[Doc]) -> Set[str]:
    """The words that would be labelled as known entities more often wrongly than rightly in annotated texts."""
    wrong: Counter[str] = Counter()
    texts: List[str] = [doc.text for doc in docs]
    for doc, found in zip(docs, Labeller(dictionary).label(texts)):
        places = {(ent.start_char, ent.end_char) for ent in doc.ents}
        for each in found:
            if each.kind == KNOWN and _is_annotated(doc, each):
                wrong[each.word] += -1 if (each.start, each.end) in places else 1
    return {word for word, excess in wrong.items() if excess > 0}


def _is_annotated(doc: Doc, occurrence: Occurrence) -> bool:
    span = doc.char_span(occurrence.start, occurrence.end, alignment_mode="expand")
    return span is not None and all(token.ent_iob for token in span)  # 0: missing
