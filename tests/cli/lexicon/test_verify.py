import pytest

from spacy_lexner.lexicon import audit
from spacy_lexner.lexicon.trie import Trie


def test_sound(run, folder):
    code, output = run("verify", folder)
    assert code == 0 and "3 words, all as they were saved" in output and "pygtrie" not in output


def test_damaged(run, folder):
    [part] = folder.glob("vectors-*")
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(data)
    code, output = run("verify", folder)
    assert code == 1 and part.name in output and "SHA-256" in output


def test_a_lexicon_that_contradicts_itself(run, folder, monkeypatch):
    monkeypatch.setattr(audit, "hash_word", lambda word: 1)
    code, output = run("verify", folder)
    assert code == 1 and "contradicts itself" in output and "'南京': its hash is wrong" in output


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "texts.txt").write_text("南京市大桥\n南 京\n", "utf8")
    return tmp_path / "texts.txt"


def test_oracle(run, folder, texts):
    code, output = run("verify", folder, "--oracle")
    assert code == 0 and "Same matches as pygtrie: 4 (texts: 1)" in output
    code, output = run("verify", folder, "--oracle", texts)
    assert code == 0 and "Same matches as pygtrie: 3 (texts: 2)" in output


def test_oracle_finds_differences(run, folder, texts, monkeypatch):
    match = Trie.match
    monkeypatch.setattr(Trie, "match", lambda self, codes, least, most: match(self, codes, least, 2))
    monkeypatch.setattr("spacy_lexner.cli.lexicon.verify.audit", lambda lexicon: iter(()))
    code, output = run("verify", folder, "--oracle", texts)
    assert code == 1 and "find different words" in output
    assert "text 1, 0 to 3: '南京市', by pygtrie only, in '南京市大桥'" in output


def test_texts_without_oracle(run, folder, texts):
    code, output = run("verify", folder, texts)
    assert code == 1 and "only read with --oracle" in output
    code, output = run("verify", folder, "--oracle", texts.with_name("missing.txt"))
    assert code == 1 and "missing.txt" in output
