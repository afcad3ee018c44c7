import logging

import pytest
import spacy
from small_ner import HASH_EMBED_CNN
from small_segmenter import describe, reference, words
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.pipeline.segmenter.retokenize import check_order

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}


def pipeline(*parts, **settings):
    """A pipeline of components; "lex_ner-tok2vec" listens to "tok2vec". The settings are those of `lex_segmenter`."""
    nlp = spacy.blank("zh")
    for name in parts:
        factory, _, kind = name.partition("-")
        config = {"model": HASH_EMBED_CNN}
        if not factory.startswith("tok2vec"):
            tok2vec = {**LISTENER, "upstream": kind} if kind else HASH_EMBED_CNN
            config = {"model": {"tok2vec": tok2vec}, **(settings if factory == "lex_segmenter" else {})}
        nlp.add_pipe(factory.rstrip("12"), name=factory, config=config)
    return nlp


@pytest.mark.parametrize(
    "parts",
    [
        ("lex_segmenter",),
        ("lex_ner", "lex_segmenter"),
        ("tok2vec", "lex_ner-tok2vec", "lex_segmenter-tok2vec"),
        ("tok2vec1", "lex_segmenter-tok2vec1", "tok2vec2", "tagger-tok2vec2"),
    ],
)
def test_good_orders(parts, caplog):
    nlp = pipeline(*parts)
    nlp.config["training"]["annotating_components"] = ["lex_segmenter"]
    with caplog.at_level(logging.WARNING):
        check_order(nlp, "lex_segmenter")
    assert not caplog.records


def test_an_encoder_that_read_characters():
    nlp = pipeline("tok2vec", "lex_segmenter-tok2vec", "lex_ner-tok2vec")
    with pytest.raises(
        ValueError, match=r"'lex_ner' shares the encoder 'tok2vec'.*Put 'lex_segmenter' after 'lex_ner'"
    ):
        check_order(nlp, "lex_segmenter")


def test_training_on_other_tokens_is_told(caplog):
    nlp = pipeline("lex_segmenter", "lex_ner")
    with caplog.at_level(logging.WARNING):
        check_order(nlp, "lex_segmenter")
    assert "lex_ner comes after it but is trained on characters" in caplog.text
    caplog.clear()
    nlp.config["training"]["frozen_components"] = ["lex_ner"]
    nlp.add_pipe("lex_matcher")
    check_order(nlp, "lex_segmenter")
    check_order(nlp, "no_such_pipe")
    assert not caplog.records


GOLD = [
    ("张三 在 北京 大学 工作", "PROPN ADP PROPN NOUN VERB", [(0, 1, "PER"), (2, 4, "ORG")]),
    ("李四 去 南京市", "PROPN VERB PROPN", [(0, 1, "PER"), (2, 3, "LOC")]),
    ("上海 的 天气 好", "PROPN PART NOUN ADJ", [(0, 1, "LOC")]),
]


ORDERS = [
    (("lex_ner", "lex_segmenter"), True),
    (("lex_segmenter", "lex_ner"), True),
    (("tok2vec", "lex_segmenter-tok2vec", "lex_ner-tok2vec"), False),
]


@pytest.fixture(scope="module", params=ORDERS, ids=["after", "before", "before, shared encoder"])
def trained(request):
    """A pipeline in each order, and its training data."""
    order, retokenize = request.param
    nlp = pipeline(*order, retokenize=retokenize)
    gold = []
    for text, pos, entities in GOLD:
        doc = reference(nlp, text, pos)
        doc.ents = [Span(doc, *entity) for entity in entities]
        gold.append(Example(nlp.make_doc(doc.text), doc))
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.01
    annotates = ["lex_segmenter"] if order[0] == "lex_segmenter" else []
    for _ in range(50):
        nlp.update(gold, sgd=optimizer, annotates=annotates)
    return nlp, gold


def test_entities_and_words_in_either_order(trained):
    nlp, gold = trained
    scores = nlp.evaluate(gold)
    assert scores["ents_f"] == scores["word_pos_f"] == 1.0
    retokenize = nlp.get_pipe("lex_segmenter").retokenize
    for example, doc in zip(gold, nlp.pipe(example.reference.text for example in gold)):
        assert words(doc).replace(" ", "") == doc.text and (words(doc) == words(example.reference)) == retokenize
        assert [(ent.text, ent.label_) for ent in doc.ents] == [(e.text, e.label_) for e in example.reference.ents]
        assert all(ent._.lex_score > 0.5 for ent in doc.ents)


def test_saved_loaded_and_in_several_processes(trained, tmp_path):
    nlp, gold = trained
    texts = [example.reference.text for example in gold] * 2
    found = [describe(nlp(text)) for text in texts]
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    for options in ({}, {"n_process": 2, "batch_size": 2}):
        assert [describe(doc) for doc in loaded.pipe(texts, **options)] == found
