import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, SpanGroup
from spacy_transformers.data_classes import TransformerData, WordpieceBatch
from thinc.api import Ragged

from spacy_lexner.pipeline.ner.split_tokens import find_cuts, split_tokens
from spacy_lexner.pipeline.wordpiece_alignment import TRANSFORMER_DATA

NLP = spacy.blank("zh")
WORDS = ["南京市", "长江大桥", "很", "长啊"]
TEXT = "".join(WORDS)


def make_doc(**more):
    return Doc(NLP.vocab, words=WORDS, spaces=[False, True, False, False], **more)


def test_what_the_parts_have():
    doc = make_doc(
        pos=["PROPN", "NOUN", "ADV", "ADJ"],
        tags=["NR", "NN", "AD", "VA"],
        lemmas=["a", "b", "c", "d"],
        heads=[1, 3, 3, 3],
        deps=["nmod", "nsubj", "advmod", "ROOT"],
        sent_starts=[1, 0, 0, 0],
    )
    doc.set_ents([Span(doc, 1, 2, label="LOC", kb_id="Q1")], blocked=[Span(doc, 0, 1)])
    doc.spans["all"] = SpanGroup(doc, spans=[Span(doc, 0, 2, label="X"), Span(doc, 2, 4)], attrs={"scores": [1, 2]})
    doc.tensor = np.arange(8.0, dtype="f4").reshape(4, 2)
    before = doc.text
    split_tokens(doc, np.array([2, 5, 0, 8, 3, 5]))
    assert doc.text == before and [token.text for token in doc] == ["南京", "市", "长江", "大桥", "很", "长啊"]
    assert [token.whitespace_ for token in doc] == ["", "", "", " ", "", ""]
    assert [(token.pos_, token.tag_) for token in doc] == [
        *[("PROPN", "NR")] * 2,
        *[("NOUN", "NN")] * 2,
        ("ADV", "AD"),
        ("ADJ", "VA"),
    ]
    assert [token.lemma_ for token in doc] == ["", "", "", "", "c", "d"]
    assert [token.head.text for token in doc] == ["长江", "南京", "长啊", "长江", "长啊", "长啊"]
    assert [token.dep_ for token in doc] == ["nmod", "dep", "nsubj", "dep", "advmod", "ROOT"]
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [("长江大桥", "LOC", "Q1")]
    assert doc.to_array("ENT_IOB").tolist() == [3, 3, 3, 1, 2, 2], "the blocked token stays blocked"
    assert [(span.text, span.label_) for span in doc.spans["all"]] == [("南京市长江大桥", "X"), ("很长啊", "")]
    assert doc.spans["all"].attrs == {"scores": [1, 2]}
    assert doc.tensor[:, 0].tolist() == [0, 0, 2, 2, 4, 6]
    assert [sent.text for sent in doc.sents] == [doc.text]


def test_sentences_without_a_parse():
    doc = make_doc(sent_starts=[1, -1, 1, -1])
    split_tokens(doc, np.array([1, 9]))
    assert [sent.text_with_ws for sent in doc.sents] == ["南京市长江大桥 ", "很长啊"] and not doc.has_annotation("DEP")


def test_wordpieces_of_a_transformer():
    doc = make_doc()
    align = Ragged(np.arange(6, dtype="i4").reshape(-1, 1), np.array([1, 2, 1, 2], "i4"))
    data = TransformerData(WordpieceBatch.empty(), (), align)
    doc.user_data[TRANSFORMER_DATA] = data
    split_tokens(doc, np.array([5]))
    split = doc.user_data[TRANSFORMER_DATA].align
    assert split.lengths.tolist() == [1, 2, 2, 1, 2] and split.dataXd.ravel().tolist() == [0, 1, 2, 1, 2, 3, 4, 5]


def test_nothing_to_split():
    doc = make_doc()
    tokens = list(doc)
    split_tokens(doc, np.array([0, 3, 7]))
    assert list(doc) == tokens and find_cuts(doc, np.zeros(0, "i8")) == {}


@given(st.sets(st.integers(0, 11)))
def test_tokens_end_at_every_place(places):
    doc = make_doc()
    borders = {edge for token in doc for edge in (token.idx, token.idx + len(token))}
    split_tokens(doc, np.array(sorted(places), "i8"))
    inner = {place for place in places if place not in (8,)}
    assert {edge for token in doc for edge in (token.idx, token.idx + len(token))} == borders | (inner & set(range(11)))
    assert doc.text == "南京市长江大桥 很长啊"


def test_a_doc_without_a_tensor():
    for tensor in (None, np.zeros((0,), "f4")):
        doc = Doc(NLP.vocab, ["张三在", "北京"], spaces=[False] * 2)
        doc.tensor = tensor
        split_tokens(doc, np.array([2]))
        assert [token.text for token in doc] == ["张三", "在", "北京"] and doc.tensor is tensor


@pytest.mark.parametrize("n", [3000])
def test_many_splits(n):
    doc = Doc(NLP.vocab, ["张三在"] * n, spaces=[False] * n)
    doc.tensor = np.ones((n, 3), "f4")
    split_tokens(doc, np.arange(2, 3 * n, 3))
    assert [token.text for token in doc] == ["张三", "在"] * n and doc.tensor.shape == (2 * n, 3)
