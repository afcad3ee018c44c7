import pytest
import spacy
from small_ner import TEXTS, blank, found, train

from spacy_lexner.pipeline.ner.calibration import Calibration, Scale
from spacy_lexner.report.gold import GoldText
from spacy_lexner.report.predict import find_lex_ner, predict, predict_uncalibrated
from spacy_lexner.visualize.lattice import Mark


def test_entities_and_scores(nlp):
    predictions = predict(nlp, ["王明在北京", "", "没有"])
    assert predictions.marks == [[Mark(0, 2, "PER", 0.5), Mark(3, 5, "GPE", 0.9)], [], []]
    assert predictions.seconds > 0 and predictions.failed == {}


def test_labels_are_renamed(nlp):
    [marks] = predict(nlp, ["王明在北京"], label_map={"PER": "PERSON"}).marks
    assert [mark.label for mark in marks] == ["PERSON", "GPE"]


def test_texts_that_fail_are_named(nlp):
    nlp.max_length = 8
    predictions = predict(nlp, ["王明", "长" * 9, "王明"])
    assert [len(marks) for marks in predictions.marks] == [1, 0, 1]
    assert list(predictions.failed) == [1] and predictions.failed[1].startswith("tokenizer: [E088]")


@pytest.mark.parametrize("size", [0, -1])
def test_batches_without_texts(nlp, size):
    with pytest.raises(ValueError, match=f"batch_size is {size}; expected at least 1"):
        predict(nlp, ["王明"], batch_size=size)


def test_a_text_without_a_prediction_is_not_one_without_entities(nlp, monkeypatch):
    monkeypatch.setattr("spacy_lexner.report.predict.annotate_texts", lambda nlp, texts, *_: [(0, nlp(texts[0]))])
    with pytest.raises(ValueError, match=r"1 of 2 texts \(the first has number 1\) got neither a Doc nor an error"):
        predict(nlp, ["王明", "王明"])


def test_an_empty_pipeline():
    assert predict(spacy.blank("zh"), ["王明"]).marks == [[]]


GOLD = [GoldText(text, [Mark(*entity) for entity in entities], []) for text, entities in TEXTS]


@pytest.fixture(scope="module")
def trained():
    nlp = blank()
    train(nlp)
    return nlp


def test_calibration_and_thresholds_are_left_out_for_a_while(trained):
    nlp, ner = trained, trained.get_pipe("lex_ner")
    plain = predict_uncalibrated(nlp, ner, GOLD).marks
    calibration = Calibration(Scale(3.0), {})
    ner.set_confidence(calibration, 1.0)
    assert predict_uncalibrated(nlp, ner, GOLD).marks == plain
    assert ner.calibration == calibration and found(nlp(TEXTS[0][0])) == []
    with pytest.raises(ValueError, match="finds no entities in these texts"):
        predict_uncalibrated(nlp, ner, [GoldText("", [], [])])
    assert ner.calibration == calibration
    ner.set_confidence(None, 0.0)


def test_texts_that_fail_are_reported_here_too(trained):
    predictions = predict_uncalibrated(trained, trained.get_pipe("lex_ner"), [*GOLD, GoldText("\ud800", [], [])])
    assert len(predictions.marks) == len(GOLD) + 1 and list(predictions.failed) == [len(GOLD)]


def test_the_component(trained):
    assert find_lex_ner(trained).name == "lex_ner"
    with pytest.raises(ValueError, match="no lex_ner called 'ner'"):
        find_lex_ner(trained, "ner")
    with pytest.raises(ValueError, match="has 0 lex_ner; no other component has scores"):
        find_lex_ner(spacy.blank("zh"))
    two = blank()
    two.add_pipe("lex_ner", name="other")
    with pytest.raises(ValueError, match=r"has 2 lex_ner: name one with --component \(lex_ner, other\)"):
        find_lex_ner(two)
    assert find_lex_ner(two, "other").name == "other"
