"""A small pipeline with a dictionary."""

import pytest
import spacy
from small_ner import TEXTS, blank, train
from spacy.training import Example


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The folder of a trained pipeline whose words have no rules."""
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(["南京", "上海", "天气", "北京大学"])
    train(nlp, [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS])
    folder = tmp_path_factory.mktemp("rules") / "model"
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def load(small_model):
    return lambda: spacy.load(small_model)
