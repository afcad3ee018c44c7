import numpy as np

from spacy_lexner.lexicon import Lexicon, LexiconEntry


def test_merge(run, folder, tmp_path):
    entries = [LexiconEntry("南京市", np.ones(2, "f4"), label="X"), LexiconEntry("长江", label="LOC")]
    Lexicon.from_entries(entries, dtype="float16").save(tmp_path / "other")
    code, output = run("merge", tmp_path / "out", folder, tmp_path / "other")
    assert code == 0 and "out: 4 words" in output and "1 of them more than once" in output
    assert "1 entries repeat earlier words with another label: these have both" in output
    merged = Lexicon.open(tmp_path / "out")
    assert merged.get("南京市").vector.tolist() == [1, 1] and merged.get("南京市").labels == ("X",)
    assert merged.get("南京").vector.dtype == "float32" and merged.get("长江").label == "LOC"
    assert run("merge", tmp_path / "out", tmp_path / "other", folder, "--force")[0] == 0
    assert Lexicon.open(tmp_path / "out").get("南京").vector.dtype == "float16"


def test_vectors_of_two_widths(run, folder, tmp_path):
    Lexicon.from_entries([LexiconEntry("长江", np.ones(3, "f4"))]).save(tmp_path / "other")
    code, output = run("merge", tmp_path / "out", folder, tmp_path / "other")
    assert code == 1 and "different dimensions" in output and not (tmp_path / "out").exists()
