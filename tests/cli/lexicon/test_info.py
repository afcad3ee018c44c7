import json

from spacy_lexner.lexicon import Lexicon, LexiconEntry


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
