import json

import numpy as np
import pytest

from spacy_lexner.cli.lexicon.info import summarise
from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.rules import Rule

WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京", "市", "南"]


@pytest.fixture
def lexicon():
    return Lexicon.from_entries(
        LexiconEntry(
            *(word, np.full(4, i, "f4"), i + 0.5, "LOC" if i % 2 else "", f"Q{i}"),
            rules=(Rule("prefer", "LOC", i + 0.5),) if i % 3 == 0 else (),
        )
        for i, word in enumerate(WORDS)
    )


def test_figures(run, folder):
    code, output = run("info", folder)
    assert code == 0
    for part in (
        "Words 3 ",
        "Lengths 2: 2, 3: 1",
        "Vectors 2 of 2 dimensions, float32",
        "Labels GPE 1",
        "Entity ids 1",
    ):
        assert part in output
    assert "Weights 1 to 2, median 1" in output and "entries: 3 entries read, 0 skipped" in output


def test_paths_are_short(run, tmp_path):
    (tmp_path / "sub").mkdir()
    files = [tmp_path / "sub" / f"words{i}.txt" for i in range(5)]
    for file in files:
        file.write_text("南京\n" * 9)
    assert run("build", tmp_path / "out", *files)[0] == 0
    output = run("info", tmp_path / "out")[1]
    assert "Built from words0.txt, words1.txt, words2.txt and 2 more: 45 entries read, 44 skipped" in output
    assert "44 x duplicate of an earlier word: words0.txt:2, words0.txt:3, words0.txt:4, ..." in output
    assert (
        "/sub/" not in output
        and str(files[4]) in json.loads(run("info", tmp_path / "out", "--json")[1])["report"]["source"]
    )


def test_json(run, folder):
    figures = json.loads(run("info", folder, "--json")[1])
    assert figures["words"] == 3 and figures["labels"] == {"GPE": 1}
    assert sorted(figures["bytes"]) == ["index", "trie", "vectors", "words"]
    assert figures["report"]["n_read"] == 3


def test_many_labels_and_none(run, tmp_path):
    Lexicon.from_entries([LexiconEntry(str(i), label=f"L{i}") for i in range(25)]).save(tmp_path / "many")
    Lexicon.from_entries([]).save(tmp_path / "none")
    assert "and 5 more" in run("info", tmp_path / "many")[1]
    assert "Lengths – Vectors 0 of 0 dimensions" in run("info", tmp_path / "none")[1]


def test_rules(run, folder, ruled):
    assert "Rules force 1, prefer 1 " in run("info", ruled)[1] and "Rules – " in run("info", folder)[1]


def test_summary(lexicon):
    figures = summarise(lexicon)
    assert (figures["words"], figures["dim"], figures["dtype"]) == (10, 4, "float32")
    assert figures["words_with_vector"] == figures["words_with_entity_id"] == 10
    assert figures["lengths"] == {1: 3, 2: 4, 3: 2, 4: 1}
    assert figures["labels"] == {"LOC": 5}
    assert figures["weight"] == [0.5, 5.0, 9.5]
    assert figures["version"] == f"{lexicon.version:016x}"


def test_summary_of_changes(lexicon):
    figures = summarise(lexicon.with_words(["紫峰大厦"]).without_words(["南京", "市"]))
    assert (figures["words"], figures["words_with_vector"]) == (9, 8)
    assert figures["lengths"] == {1: 2, 2: 3, 3: 2, 4: 2}


def test_summary_of_rules(lexicon):
    rules = (Rule("forbid"), Rule("prefer", "LOC", 1.0))
    assert summarise(lexicon)["rules"] == {"prefer": 4} and summarise(Lexicon.from_entries([]))["rules"] == {}
    ruled = Lexicon.from_entries([LexiconEntry("南京")]).with_words(
        [LexiconEntry("南京", rules=rules), LexiconEntry("市", rules=rules[:1])]
    )
    assert summarise(ruled)["rules"] == {"forbid": 2, "prefer": 1}


def test_summary_of_nothing():
    figures = summarise(Lexicon.from_entries([]))
    assert (figures["words"], figures["lengths"], figures["labels"], figures["weight"]) == (0, {}, {}, [1.0, 1.0, 1.0])
