import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy_transformers.data_classes import TransformerData, WordpieceBatch
from thinc.api import Ragged
from tolerance import assert_close
from transformers.file_utils import ModelOutput

from spacy_lexner.candidates.storage import Candidates, get_candidates, set_candidates
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.extensions import add_score_extension
from spacy_lexner.pipeline.matcher.lex_matcher import LexMatcher
from spacy_lexner.pipeline.segmenter.constraints import kept_edges
from spacy_lexner.pipeline.segmenter.retokenize import merge_tokens
from spacy_lexner.pipeline.wordpiece_alignment import TRANSFORMER_DATA

TOKENIZER = CharTokenizer(spacy.blank("zh").vocab)


def starts(*places):
    return np.array(places, dtype=np.int64)


def words(doc):
    return [token.text for token in doc]


@pytest.fixture
def doc():
    doc = TOKENIZER("张三在 北京大学，\n\n工作。")
    doc.ents = [Span(doc, 0, 2, label="PER"), Span(doc, 3, 7, label="ORG", kb_id="Q16952", span_id="pku")]
    return doc


@pytest.fixture
def merged(doc):
    return merge_tokens(doc, starts(0, 2, 3, 5, 7, 8, 9, 11)).doc


def test_words(doc, merged):
    assert words(merged) == ["张三", "在", "北京", "大学", "，", "\n\n", "工作", "。"]
    assert [token.whitespace_ for token in merged] == ["", " ", "", "", "", "", "", ""]
    assert merged.text == doc.text and merged.vocab is doc.vocab
    assert [token.is_space for token in merged].index(True) == 5
    assert words(doc) == [*"张三在北京大学，", "\n\n", *"工作。"], "the old Doc stays"


def test_entities(doc, merged):
    found = [(ent.text, ent.start, ent.end, ent.label_, ent.kb_id_, ent.id_) for ent in merged.ents]
    assert found == [("张三", 0, 1, "PER", "", ""), ("北京大学", 2, 4, "ORG", "Q16952", "pku")]
    assert [token.ent_iob_ for token in merged] == list("BOBIOOOO")


def test_missing_and_blocked_tokens():
    doc = TOKENIZER("张三在北京大学工作")
    doc.set_ents([Span(doc, 0, 2, label="PER")], blocked=[doc[4:5]], missing=[doc[7:9]], default="outside")
    merged = merge_tokens(doc, starts(0, 2, 3, 5, 7)).doc
    assert words(merged) == ["张三", "在", "北京", "大学", "工作"]
    assert [token.ent_iob for token in merged] == [3, 2, 3, 2, 0]
    assert [token.ent_type_ for token in merged] == ["PER", "", "", "", ""], "北京 is blocked, as 京 was"


def test_sentences(doc):
    assert not merge_tokens(doc, starts(0, 9)).doc.has_annotation("SENT_START")
    for token in doc:
        token.is_sent_start = token.i in (0, 9)
    merged = merge_tokens(doc, starts(0, 2, 9, 11)).doc
    assert [sent.text for sent in merged.sents] == ["张三在 北京大学，\n\n", "工作。"]
    assert kept_edges(doc).tolist() == [2, 3, 7, 9]


def test_spans(doc):
    spans = [Span(doc, 0, 3, label="A", kb_id="Q1", span_id="x"), Span(doc, 3, 4), Span(doc, 3, 7), Span(doc, 9, 12)]
    doc.spans["mine"] = SpanGroup(doc, name="other", attrs={"by": "me"}, spans=spans)
    doc.spans["none"] = []
    result = merge_tokens(doc, starts(0, 2, 3, 5, 7, 8, 9, 11))
    group = result.doc.spans["mine"]
    assert [(s.text, s.label_, s.kb_id_, s.id_) for s in group] == [
        ("张三在", "A", "Q1", "x"),
        ("北京大学", "", "", ""),
        ("工作。", "", "", ""),
    ]
    assert group.name == "other" and group.attrs == {"by": "me"} and len(result.doc.spans["none"]) == 0
    assert result.left_out == {"mine": 1}
    assert [span.text for span in doc.spans["mine"]] == ["张三在", "北", "北京大学", "工作。"]
    assert kept_edges(doc, ["mine", "missing"]).tolist() == [2, 3, 4, 7, 9]


def test_what_is_kept_by_characters(doc):
    LexMatcher()  # adds doc._.lex_matches
    add_score_extension()
    set_candidates(doc, 7, Candidates(starts(4, 4), starts(6, 8), np.array([1, 2], dtype="u8")))
    doc.ents[1]._.lex_score = 0.75
    merged = merge_tokens(doc, starts(0, 2, 3, 7, 8, 9)).doc
    assert get_candidates(merged)[0] == 7
    assert [match.word for match in merged._.lex_matches] == ["北京", "北京大学"]
    assert [match.word for match in merged[2]._.lex_words] == ["北京", "北京大学"]
    assert [ent._.lex_score for ent in merged.ents] == [None, 0.75]
    merged.ents[0]._.lex_score = 0.5
    assert doc.ents[0]._.lex_score is None, "user data are not shared"
    loaded = next(DocBin(docs=[merged], store_user_data=True).get_docs(merged.vocab))
    assert loaded.ents[1]._.lex_score == 0.75 and get_candidates(loaded)[0] == 7


def test_what_belongs_to_the_doc(doc):
    hook = {"vector": lambda doc: np.ones(3, dtype="f")}
    doc.cats, doc.sentiment, doc._context, doc.user_hooks = {"x": 0.5}, 0.25, ("context",), hook
    doc.user_data["mine"] = [1]
    doc.has_unknown_spaces = True
    merged = merge_tokens(doc, starts(0, 5)).doc
    assert (merged.cats, merged.sentiment, merged._context) == ({"x": 0.5}, 0.25, ("context",))
    assert merged.user_data["mine"] == [1] and merged.has_unknown_spaces
    assert merged.vector.tolist() == [1, 1, 1]


def test_tokens_that_are_not_merged_keep_what_they_have(doc):
    for token in doc:
        token.tag_, token.pos_, token.lemma_, token.norm_ = "T", "NOUN", "L", "N"
        token.set_morph("Case=Nom")
    merged = merge_tokens(doc, starts(0, 2, 3)).doc
    assert [(t.tag_, t.pos_, t.lemma_, str(t.morph)) for t in merged] == [
        ("", "", "", ""),
        ("T", "NOUN", "L", "Case=Nom"),
        ("", "", "", ""),
    ]
    assert [token.norm_ for token in merged][:2] == ["张三", "N"]


def test_rows_are_means(doc):
    doc.tensor = np.arange(24, dtype="f").reshape(12, 2)
    merged = merge_tokens(doc, starts(0, 2, 3))
    assert_close(merged.doc.tensor, [[1, 2], [4, 5], [14, 15]], n_terms=9)
    doc.tensor = np.zeros((3, 2), dtype="f")
    assert merge_tokens(doc, starts(0, 2, 3)).doc.tensor.size == 0, "rows of something else"
    doc.tensor = None  # as spaCy's `doc_cleaner` leaves it
    assert merge_tokens(doc, starts(0, 2, 3)).doc.tensor.size == 0


def test_wordpieces_of_a_word_are_those_of_its_tokens():
    doc = TOKENIZER("北京abc")
    align = Ragged(np.array([[1], [2], [3], [4], [3]], dtype="i"), np.array([1, 1, 0, 2, 1], dtype="i"))
    data = TransformerData(WordpieceBatch.empty(), ModelOutput(), align)
    doc.user_data[TRANSFORMER_DATA] = data
    merged = merge_tokens(doc, starts(0, 2)).doc
    new = merged.user_data[TRANSFORMER_DATA].align
    assert new.lengths.tolist() == [2, 3]
    assert new[0].dataXd.ravel().tolist() == [1, 2] and new[1].dataXd.ravel().tolist() == [3, 4, 3]
    assert data.align is align


def test_tokens_and_spans_of_the_old_doc_stay_valid(doc):
    token, span = doc[11], doc[3:7]
    merge_tokens(doc, starts(0))
    assert (token.text, span.text) == ("。", "北京大学")


@pytest.mark.parametrize("text", ["中", " ", "a b", "\n"])
def test_all_in_one(text):
    doc = TOKENIZER(text)
    merged = merge_tokens(doc, starts(0)).doc
    assert merged.text == text and len(merged) == 1


@st.composite
def documents(draw):
    text = draw(st.text("中国a1 \n\u3000。", min_size=1, max_size=20))
    doc = TOKENIZER(text)
    edges = sorted(draw(st.sets(st.integers(0, len(doc)), max_size=6)))
    doc.ents = [Span(doc, a, b, label=draw(st.sampled_from("XY"))) for a, b in zip(edges[::2], edges[1::2])]
    return doc, {0, *draw(st.sets(st.integers(0, len(doc) - 1)))}


@given(documents())
def test_same_as_spacy_and_all_entities_are_kept(case):
    doc, chosen = case
    places = np.array(sorted(chosen | set(kept_edges(doc).tolist())), dtype=np.int64)
    merged = merge_tokens(doc, places).doc
    peer = doc.copy()
    with peer.retokenize() as retokenizer:
        for start, end in zip(places.tolist(), [*places[1:].tolist(), len(doc)]):
            retokenizer.merge(peer[start:end])
    assert merged.text == peer.text == doc.text
    assert [token.text_with_ws for token in merged] == [token.text_with_ws for token in peer]
    assert [(e.start_char, e.end_char, e.label_) for e in merged.ents] == [
        (e.start_char, e.end_char, e.label_) for e in doc.ents
    ]
    again = Doc(merged.vocab).from_bytes(merged.to_bytes())
    assert words(again) == words(merged) and len(again.ents) == len(doc.ents)


def test_scores_go_with_their_spans():
    """As `spancat` and `lex_ner` write them."""
    doc = spacy.blank("zh").make_doc("我爱北京")
    attrs = {"scores": [0.1, 0.2, 0.3], "offsets": [[0, 1], [1, 3], [2, 4]], "components": ["a", "b", "c"], "n": 3}
    doc.spans["sc"] = SpanGroup(doc, attrs=attrs, spans=[doc[0:1], doc[1:3], doc[2:4]])
    merged = merge_tokens(doc, np.array([0, 1, 2])).doc
    assert [span.text for span in merged.spans["sc"]] == ["我", "北京"]
    kept = {"scores": [0.1, 0.3], "offsets": [[0, 1], [2, 4]], "components": ["a", "c"], "n": 3}
    assert dict(merged.spans["sc"].attrs) == kept
