import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from thinc.api import Model

from spacy_lexner.candidates.batch_words import AttendedWords
from spacy_lexner.candidates.storage import Candidates, set_candidates, text_around
from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.pipeline import entity_words
from spacy_lexner.pipeline.entity_words import (
    LexWord,
    add_words_extension,
    attend_words,
    note_attended,
    set_words,
    words_of_entities,
)
from spacy_lexner.pipeline.exact_offsets import add_offset_extensions, set_offsets

# 0 and 1 attend to 南京 with 0.25, and twice half of that; 1 attends to 京市 with 0.5; 4 to 长江, which 5 does not.
ATTENDED = AttendedWords(
    np.array([0, 1, 1, 1, 4]),
    np.array([0, 0, 0, 1, 4]),
    np.array([2, 2, 2, 3, 6]),
    np.array([0.25, 0.1, 0.15, 0.5, 1.0]),
)


@pytest.fixture
def doc():
    add_words_extension()
    doc = spacy.blank("zh").make_doc("南京市的长江")
    doc.set_ents([doc.char_span(0, 3, "GPE"), doc.char_span(4, 6, "LOC")])
    return doc


def test_weights_are_means_over_the_tokens_of_an_entity(doc):
    note_attended(doc, doc, ATTENDED)
    city, river = (ent._.lex_words for ent in doc.ents)
    assert city == [LexWord(0, 2, "南京", pytest.approx(0.5 / 3)), LexWord(1, 3, "京市", pytest.approx(0.5 / 3))]
    assert river == [LexWord(4, 6, "长江", 0.5)]


def test_words_without_attention_have_weight_0(doc):
    starts, ends = np.array([0, 0, 3], "i4"), np.array([2, 3, 5], "i4")
    set_candidates(doc, 1, Candidates(starts, ends, np.zeros(3, "u8")))
    note_attended(doc, doc, ATTENDED)
    city, river = ([(word.word, word.weight > 0) for word in ent._.lex_words] for ent in doc.ents)
    assert city[-1] == ("南京市", False) and len(city) == 3
    assert river == [("长江", True), ("的长", False)]


def test_reading_words_does_not_join_the_whole_text(monkeypatch):
    """That took half a minute for the entities of a long Doc."""
    add_words_extension()
    doc = spacy.blank("zh").make_doc("我在 北京大学，" * 20)
    starts, ends = np.array([3, 75], "i4"), np.array([5, 77], "i4")
    set_candidates(doc, 1, Candidates(starts, ends, np.zeros(2, "u8")))
    doc.set_ents([doc.char_span(start, start + 4, "ORG") for start in (3, 75)])
    set_words(doc, [(ent, [LexWord(ent.start_char, ent.start_char + 2, "北京", 0.5)]) for ent in doc.ents])
    read = []
    monkeypatch.setattr(entity_words, "text_around", lambda *place: read.append(text_around(*place)) or read[-1])
    assert [ent._.lex_words for ent in doc.ents] == [[LexWord(at, at + 2, "北京", 0.5)] for at in (3, 75)]
    assert read == [("北京", 3), ("北京", 75)]


def test_what_is_not_known_is_none(doc):
    assert doc.ents[0]._.lex_words is None
    changes = {(0, 3): {(0, 2): -0.5}}
    set_words(doc, zip(doc.ents, words_of_entities(doc.ents, [(0, 2), (1, 3), (4, 6)], None, changes)))
    assert doc.ents[0]._.lex_words == [LexWord(0, 2, "南京", None, -0.5), LexWord(1, 3, "京市")]
    assert doc.ents[1]._.lex_words == [LexWord(4, 6, "长江")]
    assert doc[0:2]._.lex_words is None


def test_words_inside_of_tokens(doc):
    """Of an entity that had to take a whole token, the words are those of its exact characters."""
    add_offset_extensions()
    words = Doc(doc.vocab, ["南京市的", "长江"], spaces=[False] * 2, user_data=doc.user_data)
    words.set_ents([Span(words, 0, 1, label="GPE"), Span(words, 1, 2, label="LOC")])
    set_offsets(words.ents[0], 0, 3)
    note_attended(words, doc, ATTENDED)
    assert [ent._.lex_words for ent in words.ents] == [
        [LexWord(0, 2, "南京", pytest.approx(0.5 / 3)), LexWord(1, 3, "京市", pytest.approx(0.5 / 3))],
        [LexWord(4, 6, "长江", 0.5)],
    ]


def test_a_model_that_cannot_tell(doc):
    with pytest.raises(ValueError, match="No encoder of this model reports its attention"):
        attend_words(Model("plain", None), [doc])


def test_words_have_the_labels_of_the_lexicon():
    add_words_extension()
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words([LexiconEntry("南京", labels=("GPE", "ns")), "长江"])
    doc = nlp("南京市的长江")
    doc.set_ents([doc.char_span(0, 3, "GPE"), doc.char_span(4, 6, "LOC")])
    set_words(doc, zip(doc.ents, words_of_entities(doc.ents, [(0, 2), (4, 6)])))
    assert [word.labels for ent in doc.ents for word in ent._.lex_words] == [("GPE", "ns"), ()]
