from typing import NamedTuple

import pytest
import spacy
from spacy.tokens import Span

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.visualize.lattice import Mark, Track, Word, read_attention, read_lattice


def test_words_and_entities(doc, lexicon):
    lattice = read_lattice(doc, lexicon)
    assert lattice.text == "南京市长江大桥"
    assert lattice.words[0] == Word(0, 2, 0.0, "weight 2, n")
    assert [(word.start, word.end, word.strength) for word in lattice.words] == [
        (0, 2, 0.0), (0, 3, 0.2), (2, 4, 0.4), (3, 5, 0.6), (3, 7, 0.8), (5, 7, 1.0)
    ]  # fmt: skip
    assert lattice.tracks == [Track("", [Mark(0, 3, "GPE", 0.875), Mark(3, 7, "LOC", None)])]


def test_without_a_lexicon(doc):
    assert [word.strength for word in read_lattice(doc).words] == [None] * 6
    assert read_lattice(spacy.blank("zh")("南京")).words == []


def test_a_doc_that_no_matcher_has_seen(lexicon):
    lattice = read_lattice(spacy.blank("zh")("在南京市"), lexicon)
    assert [(word.start, word.end) for word in lattice.words] == [(1, 3), (1, 4)]
    assert lattice.tracks == [Track("", [])]


def test_words_of_one_weight(doc):
    words = read_lattice(doc, Lexicon.from_entries([]).with_words(["南京", "大桥"])).words
    assert {word.strength for word in words} == {None} and {word.note for word in words} == {""}


def test_spans(doc):
    doc.spans["own"] = [Span(doc, 0, 4, "A"), Span(doc, 2, 7, "B")]
    assert read_lattice(doc, spans_key="own").tracks == [Track("", [Mark(0, 4, "A"), Mark(2, 7, "B")])]
    assert read_lattice(doc, spans_key="none").tracks == [Track("", [])]


class Evidence(NamedTuple):
    start: int
    end: int
    weight: float


@pytest.fixture
def evidence():
    found = {3: [Evidence(3, 5, 0.25), Evidence(3, 7, 0.5)], 0: [Evidence(3, 5, 0.125)]}
    assert not Span.has_extension("lex_words")
    Span.set_extension("lex_words", getter=lambda span: found.get(span.start_char))
    yield
    Span.remove_extension("lex_words")


def test_attention(doc, lexicon, evidence):
    assert read_attention(doc.ents) == {(3, 5): 0.25, (3, 7): 0.5}
    words = {(word.start, word.end): word for word in read_lattice(doc, lexicon).words}
    assert words[3, 7] == Word(3, 7, 0.5, "attention 0.500, weight 6, n")
    assert words[0, 2].strength == 0.0
