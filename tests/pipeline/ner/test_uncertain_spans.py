import pytest
import spacy
from spacy.tokens import Doc

from spacy_lexner.pipeline.ner.uncertain_spans import SPANS_KEY, Doubt, check_doubt, set_uncertain


def test_spans_and_scores():
    nlp = spacy.blank("zh")
    doc = nlp("张三在北京")
    set_uncertain(doc, [(0, 2, "PER", 0.5), (0, 2, "LOC", 0.25), (1, 2, "PER", 0.125)])
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        group = each.spans[SPANS_KEY]
        assert [(span.text, span.label_) for span in group] == [("张三", "PER"), ("张三", "LOC"), ("三", "PER")]
        assert group.attrs["scores"] == [0.5, 0.25, 0.125]


@pytest.mark.parametrize("bounds", [[0.1], [0, 0.5], [0.6, 0.5], [0.5, 1.5], [0.1, 0.2, 0.3]])
def test_bounds_that_make_no_sense(bounds):
    with pytest.raises(ValueError, match="expected two probabilities"):
        check_doubt(bounds)


def test_bounds():
    assert check_doubt(None) is None and check_doubt([0.2, 1]) == Doubt(0.2, 1)
