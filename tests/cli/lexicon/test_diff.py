import json

import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry


@pytest.fixture
def other(folder, tmp_path):
    lexicon = Lexicon.open(folder).without_words(["大桥"]).with_words(["长江", LexiconEntry("南京市", weight=4)])
    lexicon.save(tmp_path / "other")
    return tmp_path / "other"


def test_equal(run, folder):
    assert run("diff", folder, folder) == (0, "✔ The lexicons are equal: 3 words")


def test_a_negative_limit(run, folder):
    code, output = run("diff", folder, folder, "--limit", "-1")
    assert code == 2 and "Invalid value for '--limit'" in output


def test_differences(run, folder, other):
    code, output = run("diff", folder, other)
    assert code == 1
    assert output == "1 added + 长江 1 removed - 大桥 1 changed ~ 南京市: weight 1 → 4"


def test_json(run, folder, other):
    found = json.loads(run("diff", folder, other, "--json")[1])
    assert (found["added"], found["removed"], found["changed"]) == (["长江"], ["大桥"], {"南京市": "weight 1 → 4"})
    assert found["n_changed_by_field"] == {"weight": 1, "labels": 0, "entity_id": 0, "vector": 0, "rules": 0}


def test_limit(run, folder, tmp_path):
    Lexicon.open(folder).with_words(f"{i:02}" for i in range(30)).save(tmp_path / "many")
    assert run("diff", folder, tmp_path / "many", "--limit", "3") == (
        1,
        "30 added + 00 + 01 + 02 + … (--limit 0 for all)",
    )
    assert "+ 29" in run("diff", folder, tmp_path / "many", "--limit", "0")[1]


def test_settings(run, folder, tmp_path):
    assert run("build", tmp_path / "other", folder, "--normalise-case", "--dtype", "float16")[0] == 0
    code, output = run("diff", folder, tmp_path / "other")
    assert code == 1 and "type of vectors: float32 → float16" in output and "normalisation: nothing → case" in output


def test_scripts(run, folder, tmp_path):
    assert run("build", tmp_path / "other", folder, "--script", "simplified")[0] == 0
    code, output = run("diff", folder, tmp_path / "other")
    assert code == 1 and "normalisation: nothing → simplified script (" in output


def test_rules(run, folder, ruled):
    code, output = run("diff", folder, ruled)
    assert code == 1 and "1 changed ~ 南京: rules none → force LOC; prefer GPE 2" in output
