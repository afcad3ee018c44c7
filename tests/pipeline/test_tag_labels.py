import logging

import pytest
from thinc.api import Model

from spacy_lexner.pipeline.tag_labels import TagLabels


def make(*labels, fixed=None):
    attrs = {} if fixed is None else {"labels": fixed}
    return TagLabels({"labels": list(labels)}, Model("tagger", lambda model, X, is_train: X, attrs=attrs))


def test_labels_and_their_tags():
    labels = make("LOC")
    assert labels.names == ("LOC",) and labels.scheme.n_tags == 5
    assert labels.add("PER", "ner") and not labels.add("LOC", "ner")
    assert labels.names == labels.scheme.labels == ("LOC", "PER") and labels.scheme.n_tags == 9


@pytest.mark.parametrize(
    "label,message",
    [(3, "E187"), ("", "ner: '' is not a label"), (" LOC", "white space at its edges"), ("ORG", "Its labels are PER")],
)
def test_what_is_no_label(label, message):
    with pytest.raises(ValueError, match=message):
        make(fixed=("PER",) if label == "ORG" else None).add(label, "ner")


def test_what_training_needs(caplog):
    assert make().choose(["LOC", "PER"], None, "ner") == ["LOC", "PER"]
    assert make(fixed=("ORG",)).choose(["ORG"], None, "ner") == ["ORG", "ORG"]
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        assert make("MISC").choose(["LOC", "MISC", "PER"], ["LOC"], "ner") == ["LOC"]
    assert "ner: the examples have labels that were not given to initialize: ['PER']" in caplog.text
    with pytest.raises(ValueError, match="E143"):
        make().choose([], None, "ner")
    assert make("LOC").choose([], None, "ner") == []
