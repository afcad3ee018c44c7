"""`lex_segmenter` keeps existing annotation: entities, sentences, spans, words."""

import logging

import pytest
from small_segmenter import PLAIN, TEXTS, blank, examples, parts, steer, train, words
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_lexner.pipeline.segmenter.constraints import Constraints, allowed_tags, kept_edges
from spacy_lexner.tagging.spans.word_borders import fixed_borders, word_starts


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


@pytest.fixture
def joining(fresh):
    """A pipeline that joins everything it may into one word."""
    steer(fresh.get_pipe("lex_segmenter"), "I-NOUN")
    return fresh


def test_entities_are_kept(joining):
    doc = joining.make_doc("张三在北京大学")
    doc.ents = [Span(doc, 0, 2, label="PER"), Span(doc, 3, 5, label="LOC", kb_id="Q956")]
    segmented = joining.get_pipe("lex_segmenter")(doc)
    assert words(segmented) == "张三 在 北京 大学"
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in segmented.ents] == [
        ("张三", "PER", ""),
        ("北京", "LOC", "Q956"),
    ]
    assert segmented._.lex_segmentation["split_words"] == 1, "one word, split three times"
    assert joining("张三在北京大学")._.lex_segmentation["split_words"] == 0


def test_words_change_around_what_is_kept(nlp):
    """The prediction is the best one given the entities, not the previous one with a border inserted."""
    doc = nlp.make_doc(PLAIN[1])
    assert words(nlp(doc)) == "南京市 长江 大桥 很 长"
    doc = nlp.make_doc(PLAIN[1])
    doc.ents = [Span(doc, 2, 4, label="PER")]
    segmented = nlp(doc)
    assert [ent.text for ent in segmented.ents] == ["市长"] and segmented.text == PLAIN[1]
    assert segmented._.lex_segmentation["split_words"] == 2


def test_sentences_and_spans_are_kept(joining, caplog):
    pipe = joining.get_pipe("lex_segmenter")
    doc = joining.make_doc("我爱北京天安门")
    for token in doc:
        token.is_sent_start = token.i in (0, 4)
    doc.spans["mine"] = [Span(doc, 0, 2), Span(doc, 2, 4)]
    with caplog.at_level(logging.WARNING):
        segmented = pipe(doc.copy())
        pipe(doc.copy())
    assert words(segmented) == "我爱北京 天安门" and [sent.text for sent in segmented.sents] == ["我爱北京", "天安门"]
    assert segmented._.lex_segmentation == {
        "split_words": 1,
        "forced_words": 0,
        "refused_words": 0,
        "left_out_spans": {"mine": 2},
    }
    assert (
        len(caplog.records) == 1 and "doc.spans['mine'] has spans that do not begin and end with a word" in caplog.text
    )
    pipe.keep_spans = ["mine"]
    segmented = pipe(doc)
    assert words(segmented) == "我爱 北京 天安门" and [span.text for span in segmented.spans["mine"]] == [
        "我爱",
        "北京",
    ]


def test_spans_only():
    nlp = blank(retokenize=False, spans_key="words")
    gold = examples(nlp)
    train(nlp, gold)
    doc = nlp(PLAIN[0] + "\n\n")
    assert len(doc) == len(PLAIN[0]) + 1 and parts(doc) == " ".join("-" * len(doc))
    assert [(span.text, span.label_) for span in doc.spans["words"]] == list(zip(*map(str.split, TEXTS[0])))
    assert doc._.lex_segmentation["left_out_spans"] == {}
    assert nlp.evaluate(gold)["word_pos_f"] == 1.0
    [stored] = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert [span.text for span in stored.spans["words"]] == TEXTS[0][0].split()


def test_docs_in_words_are_refused(nlp):
    doc = Doc(nlp.vocab, ["我", "爱北京", "天安", "门"], spaces=[False] * 4)
    with pytest.raises(ValueError, match=r"tokens of several: '爱北京' in '我爱北京天安门'.*CharTokenizer"):
        nlp(doc)
    with pytest.raises(ValueError, match="makes words from characters"):
        nlp.update([Example(doc, Doc(nlp.vocab, ["我", "爱", "北京", "天安门"]))])
    with pytest.raises(ValueError, match=r"been through the pipeline before.*nlp\(doc.text\)"):
        nlp(nlp(PLAIN[0]))


def test_the_doc_that_went_in_stays(nlp):
    doc = nlp.make_doc(PLAIN[0])
    token = doc[6]
    segmented = nlp.get_pipe("lex_segmenter")(doc)
    assert len(segmented) == 4 and len(doc) == len(PLAIN[0]) and token.text == "门" and not doc.has_annotation("POS")


def test_set_annotations_writes_spans(nlp):
    pipe, doc = nlp.get_pipe("lex_segmenter"), nlp.make_doc(PLAIN[0])
    pipe.set_annotations([doc], pipe.predict([doc]))
    assert [span.text for span in doc.spans["lex_words"]] == TEXTS[0][0].split() and len(doc) == len(PLAIN[0])


def test_constraint_holds_what_predict_finds(joining):
    pipe, doc = joining.get_pipe("lex_segmenter"), joining.make_doc("张三在ab大学\n")
    doc.ents = [Span(doc, 0, 2, label="PER")]
    allowed = allowed_tags(doc, Constraints(fixed_borders(doc), kept_edges(doc)).all_borders, len(pipe.labels))
    [path] = pipe.head.search(pipe.model.predict([doc]), [allowed]).best()
    assert word_starts(path).tolist() == pipe.predict([doc])[0].starts.tolist() == [0, 2, 7]
