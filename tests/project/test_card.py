"""A card states what was measured, and says what is unknown."""

import pytest
import spacy
import srsly
from card import introduce, write_card
from evaluate import evaluate, mentions
from pipeline_facts import Training, check_results, describe, read_spread
from pipelines import read_examples
from trained_project import CORPORA, make_project

SOURCE = {"title": "Posts", "url": "https://example.org", "license": "CC0", "register": "in posts"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"), CORPORA)


def load(project, dataset):
    return spacy.load(project / "training" / dataset / CORPORA[dataset][0] / "model-best")


@pytest.fixture(scope="module")
def facts(project):
    found = {}
    for dataset, (config, _) in CORPORA.items():
        found[dataset] = describe(load(project, dataset), Training(dataset, config), project / "corpus" / dataset)
        variables = {"dataset": dataset, "config": config, "seed": 0, "lexicon": "my words.txt"}
        found[dataset] |= {"source": SOURCE, "seeds": [], "variables": variables}
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
        "--vars.dataset weibo --vars.config flat --vars.seed 0 --vars.lexicon 'my words.txt'\n```",
    ):
        assert part in card, card
    assert card.count("| ORG |") == card.count("| PER |") == 1
    assert " 88.9 | 8 |" in card and "| ORG | 100.0 | 100.0 | 100.0 | 2 |" in card


def test_only_labels_that_were_mistaken_are_confused(facts):
    assert facts["weibo"]["confused"] == []  # its errors are spurious entities
    assert "mistaken for" not in write_card(facts["weibo"], "zh_lexner_posts", "1.2.3")


def test_words(facts):
    measured = facts["udc"]
    card = write_card(measured, "zh_lexner_words", "0.1.0")
    assert measured["kind"] == "words" and measured["scores"]["word_f"] > 0.5
    assert measured["all"]["n"] == sum(row["n"] for row in measured["labels"].values()) == 21  # words in test
    assert measured["recall_seen"] > measured["recall_unseen"]
    assert "Words and parts of speech in Chinese" in card and "| PROPN |" in card and "Calibration" not in card
    assert " | 21 |\n" in card


def test_nested_entities(facts, project):
    nlp, measured = load(project, "nested"), facts["nested"]
    examples, train = (
        read_examples(nlp, project / "corpus" / "nested" / f"{split}.spacy") for split in ("test", "train")
    )
    scores = evaluate(nlp, examples, mentions(train))
    for name in ("spans_sc_p", "spans_sc_r", "spans_sc_f"):
        assert measured["scores"][name] == pytest.approx(scores[name], rel=1e-9)
    for label, row in scores["spans_sc_per_type"].items():
        assert (measured["labels"][label]["f"] or 0.0) == pytest.approx(row["f"], rel=1e-9)
    assert (measured["recall_seen"], measured["recall_unseen"]) == (scores["recall_seen"], scores["recall_unseen"])
    assert measured["all"]["n"] == 9 and len(measured["interval"]) == 2
    card = write_card(measured, "zh_lexner_nested", "0.1.0")
    assert "Nested named entities in Chinese" in card and "| GPE |" in card and "Recall of entities seen" in card


def test_a_corpus_without_what_the_pipeline_finds(project):
    with pytest.raises(ValueError, match=r"weibo.test.spacy has no entities under doc.spans\['sc'\]"):
        describe(load(project, "nested"), Training("weibo", "spans_flat"), project / "corpus" / "weibo")


def test_the_language_is_that_of_the_data(facts):
    assert introduce(facts["weibo"]) == "Named entities in Chinese"
    assert introduce({**facts["weibo"], "source": {"language": "English"}}) == "Named entities in English"
    assert introduce({**facts["weibo"], "language": "French"}) == "Named entities in French"


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
    assert "is unknown" in write_card({**facts["weibo"], "seeds": seeds[:1]}, "zh_lexner_posts", "0.1.0")
    for unknown in (Training("weibo", "lebert"), Training("udc", "flat")):
        with pytest.raises(ValueError, match=rf"no test scores of a system '{unknown.config}' on '{unknown.dataset}'"):
            read_spread(tmp_path / "study.jsonl", unknown)


def test_a_missing_results_file(tmp_path, capsys):
    check_results("")
    with pytest.raises(SystemExit):
        check_results(str(tmp_path / "typo.jsonl"))
    assert "typo.jsonl" in capsys.readouterr().out
