"""The suggester against its definition, written out span by span."""

import random

import numpy as np
import pytest
import spacy
from small_ner import blank, train
from spacy.tokens import Span, SpanGroup
from spacy.training import Example
from spacy.util import registry

from spacy_lexner.pipeline.spans.suggester import create_lexicon_suggester

JIEBA = {"nlp": {"tokenizer": {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"}}}
WORDS = ["甲乙", "乙丙", "丙丁", "甲", "丙 丁", "南京", "南京市", "市长", "b-c", "a b", "a", "b"]


def make_docs(language, pieces, config=None):
    nlp = spacy.blank(language, config=config or {})
    nlp.add_pipe("lex_matcher", config={"min_length": 1}).add_words(WORDS)
    chance = random.Random(0)
    texts = ["", *("".join(chance.choices(pieces, k=chance.randint(0, 9))) for _ in range(40)), ""]
    return list(nlp.pipe(texts))


def suggested(suggest, docs):
    ragged = suggest(docs)
    ends = np.cumsum(ragged.lengths)
    assert ends[-1] == len(ragged.dataXd)
    return [[tuple(row) for row in ragged.dataXd[end - n : end].tolist()] for n, end in zip(ragged.lengths, ends)]


def by_definition(doc, max_words, max_ngram):
    places = (doc.char_span(word.start, word.end) for word in doc._.lex_matches)
    words = {(span.start, span.end) for span in places if span is not None}
    spans = {(i, i + n) for n in range(1, max_ngram + 1) for i in range(len(doc) - n + 1)}
    runs = words
    for _ in range(max_words):
        spans |= runs
        runs = {(start, end) for start, middle in runs for begin, end in words if begin == middle}
    return sorted(spans)


@pytest.mark.parametrize(
    ("language", "pieces", "config"),
    [
        ("zh", ["甲", "乙", "丙", "丁", " ", "\n"], None),
        ("zh", ["南京", "市", "长江", "大桥", "甲", "乙", " "], JIEBA),
        ("en", ["a", "b", "-c", " ", "  ", "."], None),
    ],
    ids=["characters", "jieba", "english"],
)
def test_every_span_once_in_order(language, pieces, config):
    docs = make_docs(language, pieces, config)
    for max_words in range(4):
        for max_ngram in range(4):
            if max_words or max_ngram:
                found = suggested(create_lexicon_suggester(max_words, max_ngram), docs)
                assert found == [by_definition(doc, max_words, max_ngram) for doc in docs]


def test_ngrams_alone_are_those_of_spacy():
    docs = make_docs("zh", ["甲", "乙"])
    theirs = suggested(registry.misc.get("spacy.ngram_range_suggester.v1")(1, 5), docs)
    assert suggested(create_lexicon_suggester(0, 5), docs) == [sorted(spans) for spans in theirs]


def test_spans_of_other_components():
    docs = make_docs("zh", ["甲", "乙"])
    for doc in docs:
        doc.spans["mine"] = [Span(doc, 0, len(doc))] * 2 if len(doc) else []
    found = suggested(create_lexicon_suggester(0, 1, ["mine"]), docs)
    assert found == [sorted({(0, len(doc)), *((i, i + 1) for i in range(len(doc)))} - {(0, 0)}) for doc in docs]


def test_what_lex_ner_is_unsure_of():
    nlp = blank(uncertain=[0.01, 1.0])
    train(nlp)
    doc = nlp("我在南京")
    unsure = sorted({(span.start, span.end) for span in doc.spans["lex_uncertain"]})
    assert unsure and suggested(create_lexicon_suggester(0, 0, ["lex_uncertain"]), [doc]) == [unsure]


def test_no_docs_and_no_suggestions():
    assert create_lexicon_suggester()([]).lengths.tolist() == []
    assert suggested(create_lexicon_suggester(4, 0), make_docs("zh", ["戊"])) == [[]] * 42


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_words": -1}, "max_words is -1"),
        ({"max_ngram": -2}, "max_ngram is -2"),
        ({"max_words": 0, "max_ngram": 0}, "suggests nothing"),
        ({"groups": "sc"}, r"\['sc'\]"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        create_lexicon_suggester(**settings)


def test_what_a_doc_lacks():
    doc = spacy.blank("zh")("甲乙")
    with pytest.raises(ValueError, match=r"No lex_matcher has run on '甲乙'.*annotating_components"):
        create_lexicon_suggester()([doc])
    doc.spans["other"] = SpanGroup(doc)
    with pytest.raises(ValueError, match=r"no such group \(groups: other\).*annotating_components"):
        create_lexicon_suggester(0, 1, ["mine"])([doc])


def test_in_a_pipeline_on_disk(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京市", "长江", "大桥"])
    suggester = {"@misc": "spacy-lexner.lexicon_suggester.v1", "max_words": 2, "max_ngram": 1}
    nlp.add_pipe("spancat", config={"suggester": suggester})
    reference = nlp.make_doc("在南京市")
    reference.spans["sc"] = [Span(reference, 1, 4, "GPE")]
    nlp.initialize(lambda: [Example(nlp.make_doc(reference.text), reference)])
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for pipe in (nlp.get_pipe("spancat"), loaded.get_pipe("spancat")):
        docs = [loaded.get_pipe("lex_matcher")(loaded.make_doc("南京市长江大桥"))]
        pipe.set_candidates(docs)
        longer = [span.text for span in docs[0].spans["candidates"] if len(span) > 1]
        assert longer == ["南京市", "南京市长江", "长江", "长江大桥", "大桥"]
