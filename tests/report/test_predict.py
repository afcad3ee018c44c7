import pytest
import spacy
from spacy.language import Language

from spacy_lexner.report.predict import annotate, predict
from spacy_lexner.visualize.lattice import Mark


@Language.component("fails_on_bad")
def fails_on_bad(doc):
    if "坏" in doc.text:
        raise RuntimeError("cannot do this")
    return doc


def test_entities_and_scores(nlp):
    found = predict(nlp, ["王明在北京", "", "没有"])
    assert found.marks == [[Mark(0, 2, "PER", 0.5), Mark(3, 5, "GPE", 0.9)], [], []]
    assert found.seconds > 0 and found.failed == {}


def test_labels_are_renamed(nlp):
    [marks] = predict(nlp, ["王明在北京"], label_map={"PER": "PERSON"}).marks
    assert [mark.label for mark in marks] == ["PERSON", "GPE"]


@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_a_text_that_fails_takes_no_other_along(nlp, batch_size):
    nlp.add_pipe("fails_on_bad", first=True)
    nlp.max_length = 8
    texts = ["王明", "坏王明", "北京", "长" * 9, "王明"]
    found = predict(nlp, texts, batch_size=batch_size)
    assert [len(marks) for marks in found.marks] == [1, 0, 1, 0, 1]
    assert found.failed[1] == "fails_on_bad: cannot do this" and found.failed[3].startswith("tokenizer: [E088]")
    assert sorted(found.failed) == [1, 3]


def test_error_handlers_are_put_back(nlp):
    def handler(*arguments):
        raise KeyError("mine")

    nlp.set_error_handler(handler)
    list(annotate(nlp, ["王明"], {}))
    assert nlp.default_error_handler is handler
    assert nlp.get_pipe("entity_ruler").get_error_handler() is handler


def test_an_empty_pipeline():
    assert predict(spacy.blank("zh"), ["王明"]).marks == [[]]
