import spacy

from spacy_lexner.report.predict import predict
from spacy_lexner.visualize.lattice import Mark


def test_entities_and_scores(nlp):
    found = predict(nlp, ["王明在北京", "", "没有"])
    assert found.marks == [[Mark(0, 2, "PER", 0.5), Mark(3, 5, "GPE", 0.9)], [], []]
    assert found.seconds > 0 and found.failed == {}


def test_labels_are_renamed(nlp):
    [marks] = predict(nlp, ["王明在北京"], label_map={"PER": "PERSON"}).marks
    assert [mark.label for mark in marks] == ["PERSON", "GPE"]


def test_texts_that_fail_are_named(nlp):
    nlp.max_length = 8
    found = predict(nlp, ["王明", "长" * 9, "王明"])
    assert [len(marks) for marks in found.marks] == [1, 0, 1]
    assert list(found.failed) == [1] and found.failed[1].startswith("tokenizer: [E088]")


def test_an_empty_pipeline():
    assert predict(spacy.blank("zh"), ["王明"]).marks == [[]]
