import pytest
import spacy
from small_ner import TEXTS, blank, found, scores, train

from spacy_lexner.pipeline.ner.calibration import Calibration, Scale

TEXT = TEXTS[0][0]


@pytest.fixture
def ner(nlp):
    ner = nlp.get_pipe("lex_ner")
    yield ner
    ner.set_confidence(None, 0.0)


def test_scores_are_calibrated_by_label(nlp, ner):
    before = nlp(TEXT)
    ner.set_confidence(Calibration(Scale(2.0, -0.5), {"PER": Scale(3.0)}), 0.0)
    after = nlp(TEXT)
    assert found(after) == found(before)
    scales = {"PER": Scale(3.0), "ORG": Scale(2.0, -0.5)}
    expected = [scales[ent.label_](ent._.lex_score) for ent in before.ents]
    assert scores(after) == pytest.approx(expected) and scores(after) != pytest.approx(scores(before))


def test_entities_under_the_threshold_of_their_label_are_dropped(nlp, ner):
    everything = nlp(TEXT)
    assert [label for _, _, label in found(everything)] == ["PER", "ORG"]
    for threshold, left in ((1.0, []), ({"PER": 1.0}, ["ORG"]), ({"LOC": 1.0}, ["PER", "ORG"])):
        ner.set_confidence(None, threshold)
        assert [label for _, _, label in found(nlp(TEXT))] == left
    ner.set_confidence(Calibration(Scale(1.0, -20.0), {}), 0.5)
    doc = nlp(TEXT)
    assert doc.ents == () and doc.has_annotation("ENT_IOB")


def test_what_a_doc_has_already_stays(nlp, ner):
    ner.set_confidence(None, 1.0)
    doc = nlp.make_doc(TEXT)
    doc.set_ents([doc.char_span(0, 2, "LOC")], default="missing")
    assert found(ner(doc)) == [(0, 2, "LOC")]


def test_is_saved(nlp, ner, tmp_path):
    calibration = Calibration(Scale(2.0, -0.5), {"PER": Scale(3.0)})
    ner.set_confidence(calibration, {"ORG": 0.1})
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert again.get_pipe("lex_ner").calibration == calibration
    assert again.get_pipe("lex_ner").cfg["threshold"] == {"ORG": 0.1}
    assert scores(again(TEXT)) == pytest.approx(scores(nlp(TEXT)))


def test_a_pipeline_from_before_there_were_thresholds(nlp, ner):
    expected = found(nlp(TEXT))
    del ner.cfg["threshold"], ner.cfg["calibration"]
    assert found(nlp(TEXT)) == expected


def test_a_threshold_of_the_config():
    nlp = blank(threshold={"PER": 1.0})
    train(nlp)
    assert "PER" not in [label for _, _, label in found(nlp(TEXT))]
    with pytest.raises(ValueError, match="expected a number from 0 to 1"):
        blank(threshold=1.5)


def test_a_threshold_of_no_label(caplog):
    train(blank(threshold={"PRE": 0.9, "ORG": 0.5, "SHIP": 0.5}, rule_labels=["SHIP"]), steps=1)
    assert "lex_ner: no example has the labels that threshold names: PRE" in caplog.text


def test_a_wrong_calibration_changes_nothing(ner):
    with pytest.raises(ValueError, match="is not a calibration: temperatures must be above 0"):
        ner.set_confidence(Calibration(Scale(-2.0), {}), 0.7)
    assert ner.calibration is None and ner.cfg["threshold"] == 0.0


def test_forced_words_stay():
    nlp = blank()
    matcher = nlp.add_pipe("lex_matcher", first=True)
    matcher.add_words(["天气"])
    train(nlp)
    ner = nlp.get_pipe("lex_ner")
    ner.set_confidence(Calibration(Scale(1.0, -30.0), {}), 0.5)
    assert found(nlp(TEXT)) == []
    matcher.add_rules([("天气", "force", "LOC")])
    doc = nlp("今天天气好")
    assert found(doc) == [(2, 4, "LOC")] and scores(doc) == pytest.approx([1.0])
