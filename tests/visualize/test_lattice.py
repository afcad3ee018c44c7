import pytest
import spacy
from spacy.tokens import Span

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.pipeline.entity_words import LexWord, add_words_extension, set_words
from spacy_lexner.visualize.lattice import Mark, Support, Track, Word, read_lattice, read_support


def test_words_and_entities(doc, lexicon):
    lattice = read_lattice(doc, lexicon)
    assert lattice.text == "南京市长江大桥"
    assert lattice.words[0] == Word(0, 2, 0.0, "weight 2, n", ("n",))
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


@pytest.fixture
def explained(doc):
    """What 长江大桥 and 南京市 rest on, as recorded by `pipeline.explain`."""
    add_words_extension()
    set_words(doc, [(doc.ents[1], [LexWord(3, 5, "长江", 0.125, -0.25), LexWord(3, 7, "长江大桥", 0.5, None)])])
    return doc


def test_what_entities_rest_on(explained, lexicon):
    assert read_support(explained.ents) == {
        (3, 5): Support(0.125, ["without it 长江大桥 LOC -0.25"]),
        (3, 7): Support(0.5, []),
    }
    words = {(word.start, word.end): word for word in read_lattice(explained, lexicon).words}
    assert words[3, 7] == Word(3, 7, 1.0, "attention 0.500, weight 6, n", ("n",)), (
        "strongest is what has most attention"
    )
    assert words[3, 5] == Word(3, 5, 0.25, "attention 0.125, without it 长江大桥 LOC -0.25, weight 5, n", ("n",))
    assert words[0, 2].strength == 0.0


def test_words_of_several_entities(explained, lexicon):
    set_words(
        explained,
        [(ent, [LexWord(3, 5, "长江", weight, 0.5)]) for ent, weight in zip(explained.ents, (0.25, None))],
    )
    assert read_support(explained.ents)[3, 5] == Support(
        0.25, ["without it 南京市 GPE +0.50", "without it 长江大桥 LOC +0.50"]
    )
    set_words(explained, [(explained.ents[0], [LexWord(0, 2, "南京", None, None)])])
    words = read_lattice(explained, lexicon).words
    assert words[0].strength is not None and words[0].note == "weight 2, n", "as without attention"
