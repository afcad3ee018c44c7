import pytest
import spacy
from small_ner import TEXTS, blank, found, train

from spacy_lexner.pipeline.ner.calibration import Calibration, Scale
from spacy_lexner.report.gold import GoldText
from spacy_lexner.report.own_scores import find_lex_ner, find_own_scores
from spacy_lexner.visualize.lattice import Mark

GOLD = [GoldText(text, [Mark(*entity) for entity in entities], []) for text, entities in TEXTS]


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


def test_calibration_and_thresholds_are_left_out_for_a_while(nlp):
    ner = nlp.get_pipe("lex_ner")
    plain = find_own_scores(nlp, ner, GOLD)
    calibration = Calibration(Scale(3.0), {})
    ner.set_confidence(calibration, 1.0)
    assert find_own_scores(nlp, ner, GOLD) == plain
    assert ner.calibration == calibration and found(nlp(TEXTS[0][0])) == []
    with pytest.raises(ValueError, match="finds no entity in these texts"):
        find_own_scores(nlp, ner, [GoldText("", [], [])])
    assert ner.calibration == calibration
    ner.set_confidence(None, 0.0)


def test_texts_that_fail_are_told(nlp):
    scores = find_own_scores(nlp, nlp.get_pipe("lex_ner"), [*GOLD, GoldText("\ud800", [], [])])
    assert len(scores.texts) == len(GOLD) + 1 and scores.failed


def test_the_component(nlp):
    assert find_lex_ner(nlp).name == "lex_ner"
    with pytest.raises(ValueError, match="no lex_ner called 'ner'"):
        find_lex_ner(nlp, "ner")
    with pytest.raises(ValueError, match="has 0 lex_ner; no other component has scores"):
        find_lex_ner(spacy.blank("zh"))
    two = blank()
    two.add_pipe("lex_ner", name="other")
    with pytest.raises(ValueError, match=r"has 2 lex_ner: name one with --component \(lex_ner, other\)"):
        find_lex_ner(two)
    assert find_lex_ner(two, "other").name == "other"
