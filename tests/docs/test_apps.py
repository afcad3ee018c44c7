"""docs/usage/apps.md: the app is saved, packaged and installed, each step in a process of its own; and the config for a
shared LEBERT trains spaCy's `ner` and `spancat`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from pages import read_blocks, run_page
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin, Span
from transformers import BertConfig, BertModel

from spacy_lexner.lexicon import Lexicon, LexiconEntry

pytest.importorskip("jieba")
PAGE = Path(__file__).parents[2] / "docs" / "usage" / "apps.md"
TEXT = "张三在北京大学工作"


def shell_lines(start):
    blocks = [block.body.replace("\\\n", " ") for block in read_blocks(PAGE) if block.language == "sh"]
    return [shlex.split(line) for line in next(body for body in blocks if body.startswith(start)).splitlines()]


def run(command, folder, site=None):
    environment = {**os.environ, "PYTHONPATH": str(site or folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(600)
def test_saved_packaged_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run_page(PAGE)
    code = f"import shop, spacy; doc = spacy.load('app')({TEXT!r}); print(doc.ents, doc._.n_words)"
    assert run([sys.executable, "-c", code], tmp_path) == "(张三在, 北京大学) 3\n"
    package, install, use = shell_lines("python -m spacy package")
    run([sys.executable, *package[1:]], tmp_path)
    site = tmp_path / "site"
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    run([sys.executable, *install[1:], *offline], tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run([sys.executable, *use[1:]], elsewhere, site) == "(张三在, 北京大学)\n"


@pytest.fixture
def files(tmp_path):
    """A tiny checkpoint, a lexicon, and a corpus in words with entities and spans."""
    characters = sorted(set(TEXT + "李四去南"))
    (tmp_path / "bert").mkdir()
    (tmp_path / "bert" / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]) + "\n", "utf8"
    )
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=5 + len(characters), **sizes)).save_pretrained(tmp_path / "bert")
    vectors = {"北京": [1.0, 0.0], "北京大学": [0.0, 1.0], "张三": [1.0, 1.0]}
    Lexicon.from_entries([LexiconEntry(word, vector=vector) for word, vector in vectors.items()]).save(
        tmp_path / "lexicon"
    )
    vocab = spacy.blank("zh").vocab
    docs = []
    for words in (["张三", "在", "北京大学", "工作"], ["李四", "去", "南京大学"]):
        doc = Doc(vocab, words, spaces=[False] * len(words))
        doc.ents = [Span(doc, 0, 1, label="PER"), Span(doc, 2, 3, label="ORG")]
        doc.spans["sc"] = list(doc.ents)
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "corpus.spacy")
    return tmp_path


def test_a_shared_lebert_for_stock_components(files, capsys):
    [config] = [block.body for block in read_blocks(PAGE) if block.language == "ini"]
    (files / "app.cfg").write_text(config, "utf8")
    paths = {"train": "corpus.spacy", "dev": "corpus.spacy", "checkpoint": "bert", "lexicon": "lexicon"}
    overrides = {f"paths.{name}": str(files / path) for name, path in paths.items()}
    train(files / "app.cfg", files / "out", overrides={**overrides, "training.max_steps": 3})
    capsys.readouterr()
    nlp = spacy.load(files / "out" / "model-last")
    doc = nlp(TEXT)
    assert [token.text for token in doc] == ["张三在", "北京大学", "工作"], "jieba's words"
    assert [match.word for match in doc._.lex_matches] == ["张三", "北京", "北京大学"]
    data = doc._.trf_data
    assert data.align.lengths.tolist() == [3, 4, 2], "a wordpiece for each character"
    rows = data.tensors[0].reshape(-1, 16)[data.align.dataXd.ravel()]
    nlp.get_pipe("lex_matcher").remove_words(["张三"])
    changed = nlp(TEXT)._.trf_data.tensors[0].reshape(-1, 16)
    assert not (rows[:2] == changed[:2]).any(), "a word inside of a token is seen"
