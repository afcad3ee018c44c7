from spacy_lexner.lexicon import Lexicon


def test_prune(run, folder, tmp_path):
    (tmp_path / "corpus.txt").write_text("我在南京\n天气好\n")
    code, output = run("prune", folder, tmp_path / "out", "--corpus", tmp_path / "corpus.txt")
    assert code == 0 and "1 of 3 words occur in the corpus" in output
    pruned = Lexicon.open(tmp_path / "out")
    assert list(pruned) == ["南京"] and pruned.get("南京").vector.tolist() == [3, 4]


def test_no_text(run, folder, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n \n")
    code, output = run("prune", folder, tmp_path / "out", "--corpus", tmp_path / "corpus.txt")
    assert code == 1 and "No text in" in output and not (tmp_path / "out").exists()
