import json

import pytest
import spacy

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.report.measure import Settings
from spacy_lexner.report.report import describe_corpus, make_report, without_lexicon

SETTINGS = Settings(n_samples=20)


def test_models_side_by_side(nlp, gold):
    report = make_report([("ours", nlp), ("peer", spacy.blank("zh"))], gold * 5, SETTINGS)
    assert list(report.models) == ["ours", "peer"]
    assert report.compare("ours") == {}
    compared = report.compare("peer")
    assert compared["f"] == pytest.approx(-1 / 3) and compared["spread"][1] < 0 and compared["above"] == 0.0
    state = json.loads(json.dumps(report.to_json()))
    assert state["models"]["peer"]["difference"]["f"] == pytest.approx(-1 / 3)
    assert state["samples"] == {"n": 20, "seed": 0, "percentiles": [2.5, 97.5]}
    assert state["corpus"]["entities"] == 30 and state["corpus"]["seen"] is None


def test_lexicon_off(nlp, gold):
    lexicon = nlp.get_pipe("lex_matcher").lexicon
    report = make_report([("ours", nlp), ("none", spacy.blank("zh"))], gold, SETTINGS, lexicon_off=True)
    assert list(report.models) == ["ours", "ours, lexicon emptied", "none"]
    assert report.models["ours, lexicon emptied"].figures["lexicon"]["words"] == 0
    assert not report.models["ours, lexicon emptied"].worst[0].words and report.models["ours"].worst[0].words
    assert nlp.get_pipe("lex_matcher").lexicon is lexicon
    assert list(report.weigh_lexicon()) == ["dependence"]


def test_the_lexicon_comes_back(nlp):
    matcher = nlp.get_pipe("lex_matcher")
    lexicon = matcher.lexicon
    with pytest.raises(KeyError), without_lexicon(nlp):
        assert len(matcher.lexicon) == 0
        raise KeyError
    assert matcher.lexicon is lexicon
    empty = spacy.blank("zh")
    empty.add_pipe("lex_matcher")
    with without_lexicon(empty):
        assert len(empty.get_pipe("lex_matcher").lexicon) == len(Lexicon.from_entries([]))


def test_corpus(gold):
    corpus = describe_corpus(gold, {"王明", "南京"})
    assert (corpus["texts"], corpus["characters"], corpus["entities"], corpus["distinct_mentions"]) == (6, 25, 6, 6)
    assert corpus["labels"] == {"GPE": 2, "ORG": 2, "PER": 2}
    assert (corpus["seen"], corpus["unseen"]) == (2, 4)


def test_errors(nlp, gold):
    with pytest.raises(ValueError, match="no annotated texts"):
        make_report([("ours", nlp)], [], SETTINGS)
    with pytest.raises(ValueError, match="Two models have the name 'ours'"):
        make_report([("ours", nlp), ("ours", nlp)], gold, SETTINGS)


def test_rules_of_words_are_off_too(nlp, tmp_path):
    (tmp_path / "words.tsv").write_text("紫峰\tforbid\n", "utf8")
    matcher = nlp.get_pipe("lex_matcher")
    matcher.load_rules(tmp_path / "words.tsv")
    version = matcher.version
    with without_lexicon(nlp):
        assert len(matcher.lexicon) == 0 and not nlp("紫峰")._.lex_matches
    assert matcher.version == version and [match.word for match in nlp("紫峰")._.lex_matches] == ["紫峰"]


def test_dependence_and_worth(nlp, gold):
    plain = spacy.blank("zh")
    settings = {"lexicon_off": True, "without_words": plain}
    report = make_report([("ours", nlp), ("peer", spacy.blank("zh"))], gold, SETTINGS, **settings)
    assert list(report.models) == ["ours", "ours, lexicon emptied", "ours, trained without words", "peer"]
    effects, best = report.weigh_lexicon(), report.models["ours"].figures["all"]["f"]
    for kind, other in (("dependence", "lexicon emptied"), ("worth", "trained without words")):
        f = report.models[f"ours, {other}"].figures["all"]["f"]
        assert (
            effects[kind]["f"] == pytest.approx(best - f)
            and effects[kind]["f"] == -report.compare(f"ours, {other}")["f"]
        )
    assert json.loads(json.dumps(report.to_json()))["lexicon"]["worth"]["f"] == effects["worth"]["f"]
    assert make_report([("peer", plain)], gold, SETTINGS).weigh_lexicon() == {}


def test_the_model_without_words_has_none(nlp, gold):
    with pytest.raises(ValueError, match=r"has a lexicon of \d+ words\. Train it with an empty one"):
        make_report([("peer", spacy.blank("zh"))], gold, SETTINGS, without_words=nlp)
