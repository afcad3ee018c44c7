import pytest

from spacy_lexner.pipeline.matcher.lex_matcher import SETTINGS as MATCHER
from spacy_lexner.pipeline.ner.lex_ner import LexNER
from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter
from spacy_lexner.pipeline.settings import check_settings

NER, SEGMENTER = LexNER.SETTINGS, LexSegmenter.SETTINGS
CALIBRATION = {"shared": {"temperature": 1.5, "bias": 0}, "labels": {"GPE": {"temperature": 2, "bias": -0.1}}}
VALID = [
    (MATCHER, {"spans_key": None, "rule_files": []}),
    (MATCHER, {"spans_key": "lexicon", "rule_files": [["rules.tsv", "utf8"]], "options": {}}),
    (NER, {}),  # missing settings did not exist in another version
    (NER, {"labels": ["GPE", "组织"], "units": "characters", "tokenizer": None, "unknown": [1]}),
    (NER, {"threshold": {"GPE": 0.5}, "calibration": CALIBRATION}),
    (NER, {"threshold": 1, "calibration": None, "units": None, "tokenizer": "ChineseTokenizer (segmenter = jieba)"}),
    (SEGMENTER, {"labels": ["WORD"], "pos": None, "known_words": []}),
    (SEGMENTER, {"labels": ("NOUN",), "pos": "tag", "known_words": [0, 2**64 - 1]}),
]
INVALID = [
    *((MATCHER, "spans_key", value) for value in (True, [], 1, {}, "\ud800")),
    *((MATCHER, "rule_files", value) for value in (None, "rules.tsv", ["rules.tsv"], [["rules.tsv"]], [["a", None]])),
    *((NER, "labels", value) for value in (None, "GPE", {}, [""], [" GPE"], ["GPE", "GPE"], [1], [[]], ["\ud800"])),
    *((NER, "units", value) for value in ("words", [], True, 1)),
    *((NER, "tokenizer", value) for value in (["a"], 0)),
    *((NER, "threshold", value) for value in ("0.5", True, -0.1, 1.1, float("nan"), [0.5], {"GPE": None}, 2**70)),
    *((NER, "calibration", value) for value in ({}, [], 1, {**CALIBRATION, "labels": 1}, {"shared": 10**400})),
    *((SEGMENTER, "pos", value) for value in ("dep", ["pos"], True)),
    *((SEGMENTER, "known_words", value) for value in (None, {}, ["南"], [True], [1.0], [-1], [2**64])),
]


@pytest.mark.parametrize(("settings", "values"), VALID)
def test_valid_settings(settings, values):
    check_settings("pipe", values, settings)


@pytest.mark.parametrize(("settings", "name", "value"), INVALID)
def test_an_invalid_setting_is_named(settings, name, value):
    with pytest.raises(ValueError, match=rf"pipe: {name} is .*; expected .*\. Correct it"):
        check_settings("pipe", {name: value}, settings)


def test_values_are_cut():
    with pytest.raises(ValueError, match="threshold is 'aaa") as raised:
        check_settings("pipe", {"threshold": "a" * 5000}, NER)
    assert len(str(raised.value)) < 300
    with pytest.raises(ValueError, match="expected a value for each name"):
        check_settings("pipe", ["threshold"], NER)
