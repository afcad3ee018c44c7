"""A card states what was measured, and says what is unknown."""

import pytest
import spacy
import srsly
from card import write_card
from pipeline_facts import Training, describe, read_spread
from trained_project import CORPORA, make_project

SOURCE = {"title": "Posts", "url": "https://example.org", "license": "CC0", "register": "in posts"}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    folder = make_project(tmp_path_factory.mktemp("project"))
    found = {}
    for dataset, (config, _) in CORPORA.items():
        nlp = spacy.load(folder / "training" / dataset / config / "model-best")
        found[dataset] = describe(nlp, Training(dataset, config), folder / "corpus" / dataset)
        found[dataset] |= {"source": SOURCE, "seeds": []}
    return found


def test_entities(facts):
    measured = facts["weibo"]
    assert measured["lexicon"]["words"] == 4 and len(measured["lexicon"]["version"]) == 16
    assert sum(row["n"] for row in measured["labels"].values()) == 8  # entities in test
    assert sum(n for kind, n in measured["errors"].items() if kind != "spurious") == 8
    recall = 7 * measured["recall_seen"] + measured["recall_unseen"]  # 复旦大学 is in no training text
    assert 8 * measured["scores"]["ents_r"] == pytest.approx(recall, rel=1e-9) and measured["recall_seen"] == 1.0
    assert measured["characters_per_second"] > 0
    card = write_card(measured, "zh_lexner_posts", "1.2.3")
    for part in (
        "# zh_lexner_posts 1.2.3",
        "Licence of the data: CC0",
        f"4 words, version `{measured['lexicon']['version']}`",
        "spread over seeds is unknown",
        "Recall of entities seen in training: 100.0",
        "Calibration: scores are off by",
        "characters a second",
        "Worst labels: ",
        "--vars.dataset weibo --vars.config flat --vars.seed 0",
    ):
        assert part in card, card
    assert card.count("| ORG |") == card.count("| PER |") == 1


def test_words(facts):
    measured = facts["udc"]
    card = write_card(measured, "zh_lexner_words", "0.1.0")
    assert measured["words"] and measured["scores"]["word_f"] > 0.5
    assert measured["recall_seen"] > measured["recall_unseen"]
    assert "Words and parts of speech in Chinese" in card and "| PROPN |" in card and "Calibration" not in card


def test_the_spread_over_seeds_is_that_of_a_study(facts, tmp_path):
    scores = {"ents_f": 0.5, "ents_per_type": {"PER": {"f": 0.7}}}
    lines = [
        {"dataset": "weibo", "system": "flat", "seed": 0, "test": scores},
        {"dataset": "weibo", "system": "flat", "seed": 1, "test": {**scores, "ents_f": 0.6}},
        {"dataset": "weibo", "system": "flat", "seed": 2, "test": {}},  # dev only
        {"dataset": "msra", "system": "flat", "seed": 0, "test": scores},
    ]
    srsly.write_jsonl(tmp_path / "study.jsonl", lines)
    seeds = read_spread(tmp_path / "study.jsonl", Training("weibo", "flat"))
    assert [each["seed"] for each in seeds] == [0, 1]
    card = write_card({**facts["weibo"], "seeds": seeds}, "zh_lexner_posts", "0.1.0")
    assert "± 7.1 (mean 55.0)" in card and "± 0.0 (mean 70.0)" in card and "over 2 seeds" in card
