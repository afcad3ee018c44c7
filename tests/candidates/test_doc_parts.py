import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, Token

from spacy_lexner.candidates.doc_parts import cut_out
from spacy_lexner.candidates.storage import find_candidates, get_candidates, set_candidates
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher

NLP = spacy.blank("zh")
RANGES = st.tuples(st.integers(0, 11), st.integers(1, 12)).filter(lambda pair: pair[0] < pair[1])
TEXT = "南京市长江大桥很长。武汉"


def annotated() -> Doc:
    doc = NLP.make_doc(TEXT)
    doc.ents = [Span(doc, 0, 3, "GPE", kb_id="Q1", span_id="a"), Span(doc, 3, 7, "LOC"), Span(doc, 10, 12, "GPE")]
    doc.set_ents([], blocked=[doc[8:9]], default="unmodified")
    for token in doc:
        token.pos_, token.tag_, token.lemma_ = "NOUN", "NN", token.text * 2
        token.set_morph("Number=Sing")
    return doc


@given(RANGES)
def test_annotation_of_what_lies_in_a_part(pair):
    start, end = pair
    doc = annotated()
    [part] = cut_out(doc, [(start, end)])
    inside = [ent for ent in doc.ents if start <= ent.start and ent.end <= end]
    expected = [(ent.text, ent.start - start, ent.label_, ent.kb_id_, ent.id_) for ent in inside]
    assert [(ent.text, ent.start, ent.label_, ent.kb_id_, ent.id_) for ent in part.ents] == expected
    cut = {i for ent in doc.ents if ent not in inside for i in range(ent.start, ent.end)}
    for token, own in zip(doc[start:end], part):
        same = ("text", "whitespace_", "pos_", "tag_", "lemma_", "morph")
        assert [getattr(own, name) for name in same] == [getattr(token, name) for name in same]
        assert own.ent_iob_ == ("" if token.i in cut else token.ent_iob_)


def test_a_doc_without_annotation():
    [part] = cut_out(NLP.make_doc(TEXT), [(2, 5)])
    assert part.text == TEXT[2:5] and not any(token.ent_iob for token in part) and get_candidates(part) is None


@given(RANGES)
def test_candidates_inside_a_part(pair):
    matcher = Matcher(Lexicon.from_entries([LexiconEntry(w) for w in ("南京", "南京市", "市长", "长江大桥", "大桥")]))
    doc = NLP.make_doc(TEXT)
    set_candidates(doc, matcher.version, find_candidates(matcher, [doc])[0])
    [part] = cut_out(doc, [pair])
    version, found = get_candidates(part)
    assert version == matcher.version
    assert all(np.array_equal(own, again) for own, again in zip(found, find_candidates(matcher, [part])[0]))


@pytest.fixture
def extension():
    for kind in (Doc, Span, Token):
        kind.set_extension("lex_test", default=None)
    yield
    for kind in (Doc, Span, Token):
        kind.remove_extension("lex_test")


def test_user_data(extension):
    doc = NLP.make_doc(TEXT)
    doc._.lex_test, doc.user_data["own"] = "doc", {"key": 1}
    doc[3]._.lex_test, doc[7]._.lex_test = "长", "很"
    doc[3:5]._.lex_test, doc[3:7]._.lex_test = "长江", "长江大桥"
    [part] = cut_out(doc, [(2, 6)])
    assert (part._.lex_test, part.user_data["own"]) == ("doc", {"key": 1})
    assert [token._.lex_test for token in part] == [None, "长", None, None]
    assert part[1:3]._.lex_test == "长江"
    assert len([key for key in part.user_data if key[1] == "lex_test"]) == 3
    part._.lex_test = "part"
    assert doc._.lex_test == "doc"
