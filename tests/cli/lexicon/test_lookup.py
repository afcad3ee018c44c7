import json

from spacy_lexner.lexicon import Lexicon, LexiconEntry


def test_words(run, folder):
    code, output = run("lookup", folder, "南京", "大桥")
    assert code == 0 and "2.0 GPE Q16666 5.0 南京" in output and "1.0 1.0 大桥" in output


def test_unknown_words(run, folder):
    code, output = run("lookup", folder, "南京", "北京")
    assert code == 1 and "Q16666" in output and "Not in the lexicon: 北京" in output


def test_text(run, folder):
    code, output = run("lookup", folder, "--text", "在南京市的大桥", "--json")
    assert code == 0
    found = json.loads(output)
    assert list(found["words"]) == ["南京", "南京市", "大桥"] and found["unknown"] == []
    assert found["words"]["南京市"] == {"weight": 1.0, "labels": [], "entity_id": "", "vector_norm": None, "rules": ""}


def test_nothing(run, folder):
    assert run("lookup", folder, "--text", "你好") == (1, "✘ The text has no lexicon words.")
    assert run("lookup", folder) == (1, "✘ Give words, or a text (--text).")


def test_small_weights(run, tmp_path):
    Lexicon.from_entries([LexiconEntry("南京", weight=3e-7), LexiconEntry("大桥", weight=0.1)]).save(tmp_path / "a")
    code, output = run("lookup", tmp_path / "a", "南京", "大桥", "--json")
    assert code == 0 and [entry["weight"] for entry in json.loads(output)["words"].values()] == [3e-7, 0.1]


def test_rules(run, ruled):
    code, output = run("lookup", ruled, "南京")
    assert code == 0 and "force LOC; prefer GPE 2 南京" in output
