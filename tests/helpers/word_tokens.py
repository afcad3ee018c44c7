"""Docs of the same texts with tokens other than characters."""

from spacy.tokens import Doc
from spacy.training import Example


def in_words(doc, *lengths):
    """The text of a Doc in characters as words, cycling through these lengths, without annotation."""
    words, start, i = [], 0, 0
    while start < len(doc):
        words.append(doc[start : start + lengths[i % len(lengths)]].text)
        start, i = start + lengths[i % len(lengths)], i + 1
    return Doc(doc.vocab, words=words, spaces=[False] * len(words))


def examples_in_words(examples, *lengths):
    """Examples whose predicted Docs are in words, with the reference Docs unchanged."""
    return [Example(in_words(example.predicted, *lengths), example.reference) for example in examples]
