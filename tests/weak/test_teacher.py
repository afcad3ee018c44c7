import numpy as np
import pytest
import spacy
from small_ner import blank, train
from small_training import make_texts
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_lexner.report.gold import to_gold
from spacy_lexner.weak.teacher import Bounds, calibrate, teach

BOUNDS = Bounds()
TEXTS = ["王伟去东山市了", "没有人来", "今天赵磊很忙"]


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    gold = [Example.from_dict(nlp.make_doc(text), {"entities": ents}) for text, ents in make_texts(40)]
    train(nlp, gold, steps=15)
    return nlp


def taught(nlp, texts=TEXTS, bounds=BOUNDS, known=()):
    docs = [spacy.blank("zh").make_doc(text) for text in texts]
    for doc in docs:
        doc.set_ents([Span(doc, *place) for place in known], default="missing")
    return list(teach(nlp, docs, bounds))


def test_sure_spans_are_known_sure_tokens_outside_and_the_rest_is_missing(nlp):
    ner = nlp.get_pipe("lex_ner")
    for bounds in (Bounds(0.9, 0.05), Bounds(0.999, 0.0001), Bounds(0.6, 0.5)):
        docs = taught(nlp, bounds=bounds)
        assert [doc.text for doc in docs] == TEXTS
        _, search = ner.search([nlp.make_doc(text) for text in TEXTS])
        for doc, likely, tags in zip(docs, search.spans_above(bounds.upper), search.tag_scores()):
            expected = {(span.start, span.end, ner.labels[span.label]) for span, _ in likely}
            assert {(ent.start, ent.end, ent.label_) for ent in doc.ents} == expected
            inside = np.zeros(len(doc), bool)
            for start, end, _ in expected:
                inside[start:end] = True
            outside = [token.ent_iob == 2 for token in doc]
            assert outside == ((1 - tags[:, 0] <= bounds.lower) & ~inside).tolist()
            missing = [token.ent_iob == 0 for token in doc]
            assert missing == (~inside & ~np.array(outside)).tolist()


def test_what_the_teacher_is_not_sure_of_is_possible(nlp):
    ner, bounds = nlp.get_pipe("lex_ner"), Bounds(0.999999, 1e-9)
    docs = taught(nlp, bounds=bounds)
    _, search = ner.search([nlp.make_doc(text) for text in TEXTS])
    for doc, likely in zip(docs, search.spans_above(bounds.lower)):
        expected = {(span.start, span.end, ner.labels[span.label]) for span, p in likely if p < bounds.upper}
        assert {(span.start, span.end, span.label_) for span in doc.spans.get("lex_possible", ())} == expected
    assert any(doc.spans for doc in docs)


def test_words_of_the_dictionary_stay_where_the_teacher_has_nothing_against_them(nlp):
    [doc] = taught(nlp, ["王伟去东山市了"], Bounds(0.99999, 1e-12), known=[(0, 2, "PER")])
    assert (0, 2, "PER") in [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    [doc] = taught(nlp, ["没有人来"], Bounds(0.9, 0.3), known=[(0, 4, "PER")])
    assert not doc.ents  # almost impossible
    [doc] = taught(nlp, ["王伟去东山市了"], known=[(0, 2, "COLOUR")])
    assert "COLOUR" not in [ent.label_ for ent in doc.ents]  # the teacher does not know the label


def test_scores_decide_once_they_are_calibrated(nlp):
    ner = nlp.get_pipe("lex_ner")
    gold = [
        Example.from_dict(nlp.make_doc(text), {"entities": ents}).reference for text, ents in make_texts(60, seed=9)
    ]
    calibrate(nlp, [to_gold(doc) for doc in gold])
    assert ner.calibration is not None
    unsure = ner.calibration._replace(shared=ner.calibration.shared._replace(bias=-20.0), labels={})
    ner.set_confidence(unsure, 0.0)
    assert not any(doc.ents for doc in taught(nlp))
    ner.set_confidence(None, 0.0)


def test_nothing_found_leaves_probabilities(nlp):
    assert not nlp("没有人来").ents
    calibrate(nlp, [to_gold(Doc(nlp.vocab, words=list("没有人来"), ents=["O"] * 4))])
    assert nlp.get_pipe("lex_ner").calibration is None


@pytest.mark.parametrize("bounds", [(0.5, 0.5), (1.0, 0.1), (0.9, 0.0)])
def test_wrong_bounds(bounds):
    with pytest.raises(ValueError, match="expected 0 < lower < upper < 1"):
        Bounds(*bounds).check()
