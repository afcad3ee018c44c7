import pytest
import spacy
from spacy.tokens import Doc

from spacy_lexner.pipeline.ner.alternatives import (
    Alternative,
    ReadEntity,
    check_bounds,
    get_alternatives,
    set_alternatives,
)


def test_alternatives_survive_bytes():
    nlp = spacy.blank("zh")
    doc = nlp("张三在北京")
    assert get_alternatives(doc) == []
    first = Alternative(0.75, -0.29, (ReadEntity(0, 2, "PER", "张三"), ReadEntity(3, 5, "LOC", "北京")))
    stored = [first, Alternative(0.25, -1.39, ())]
    set_alternatives(doc, stored)
    assert get_alternatives(doc) == get_alternatives(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == stored


@pytest.mark.parametrize("bounds", [[0.1], [0, 0.5], [0.6, 0.5], [0.5, 1.5], [0.1, 0.2, 0.3]])
def test_bounds_that_make_no_sense(bounds):
    with pytest.raises(ValueError, match="expected two probabilities"):
        check_bounds(bounds)


def test_bounds():
    assert check_bounds(None) is None and check_bounds([0.2, 1]) == (0.2, 1)
