import logging

import pytest
import spacy
from small_ner import HASH_EMBED_CNN

from spacy_lexner.pipeline.segmenter_order import check_order

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}


def pipeline(*parts):
    nlp = spacy.blank("zh")
    for name in parts:
        factory, _, kind = name.partition("-")
        config = {"model": HASH_EMBED_CNN}
        if not factory.startswith("tok2vec"):
            tok2vec = {**LISTENER, "upstream": kind} if kind else HASH_EMBED_CNN
            config = {"model": {"tok2vec": tok2vec}}
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
        ValueError, match="'lex_ner' shares the encoder 'tok2vec'.*Put 'lex_segmenter' behind 'lex_ner'"
    ):
        check_order(nlp, "lex_segmenter")


def test_training_on_other_tokens_is_told(caplog):
    nlp = pipeline("lex_segmenter", "lex_ner")
    with caplog.at_level(logging.WARNING):
        check_order(nlp, "lex_segmenter")
    assert "lex_ner comes behind it, but is trained on characters" in caplog.text
    caplog.clear()
    nlp.config["training"]["frozen_components"] = ["lex_ner"]
    nlp.add_pipe("lex_matcher")
    check_order(nlp, "lex_segmenter")
    check_order(nlp, "no_such_pipe")
    assert not caplog.records
