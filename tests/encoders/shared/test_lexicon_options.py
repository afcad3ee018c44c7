import pytest
from thinc.api import ConfigValidationError

from spacy_lexner.encoders.shared.lexicon_options import LabelOptions, LexiconOptions
from spacy_lexner.lexicon import Lexicon, LexiconEntry

LEXICON = Lexicon.from_entries([LexiconEntry("小米", labels=("FOOD", "BRAND")), LexiconEntry("南京", label="LOC")])


def test_defaults_hide_nothing():
    options = LabelOptions.read({})
    assert (options.lexicon_dropout, options.labels) == (0.0, True)
    assert LexiconOptions.read({"lexicon_dropout": 0.1}).node().attrs["dropout"].lexicon_dropout == 0.1


def test_labels():
    assert LabelOptions().label_names(LEXICON) == ["BRAND", "FOOD", "LOC"]
    assert LabelOptions(labels=False).label_names(LEXICON) == LabelOptions().label_names(Lexicon.from_entries([])) == []


@pytest.mark.parametrize("options, block", [({"lexicon_dropout": "x"}, LexiconOptions), ({"labels": 1}, LabelOptions)])
def test_types(options, block):
    with pytest.raises(ConfigValidationError, match="expected"):
        block.read(options)


def test_range_and_unknown_options():
    with pytest.raises(ValueError, match=r"lexicon\.lexicon_dropout = 2: expected a probability"):
        LexiconOptions.read({"lexicon_dropout": 2})
    with pytest.raises(ConfigValidationError, match="lexicon -> labels"):
        LexiconOptions.read({"labels": True})
