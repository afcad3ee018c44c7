"""The study of words: peers, joined data sets, scores of pipelines that segment."""

import json

import pytest
import spacy
import study_words
from evaluate import evaluate, print_scores
from pipelines import read_examples
from small_segmenter import TEXTS, blank, reference, train
from spacy.tokens import DocBin


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a small data set with words."""
    monkeypatch.setattr(study_words, "PROJECT", tmp_path)
    nlp = spacy.blank("zh")
    for split in study_words.SPLITS:
        docs = [reference(nlp, *text) for text in TEXTS * 10]  # pkuseg cannot be trained on few
        path = tmp_path / "corpus" / "udc" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(attrs=["POS", "TAG"], docs=docs).to_disk(path)
    return tmp_path


def test_join(project):
    study_words.join_corpora("both", ["udc", "udc"])
    [*docs] = DocBin().from_disk(project / "corpus" / "both" / "dev.spacy").get_docs(spacy.blank("zh").vocab)
    assert [" ".join(token.text for token in doc) for doc in docs] == [text for text, _ in TEXTS] * 20
    assert docs[0][0].pos_ == "PRON"


def test_peers(project, capsys):
    pytest.importorskip("jieba")
    pytest.importorskip("spacy_pkuseg")
    study_words.compare_peers("udc", project / "metrics" / "peers.json", iterations=1)
    results = json.loads((project / "metrics" / "peers.json").read_text("utf8"))
    assert set(results) == {"jieba", "pkuseg"} and all(0 < scores["word_f"] <= 1 for scores in results.values())
    assert "jieba" in capsys.readouterr().out


def test_words_of_a_peer_with_white_space():
    doc = study_words.make_word_doc(spacy.blank("zh").vocab, str.split, " 我们 爱\n北京 ")
    assert doc.text == " 我们 爱\n北京 " and [t.text for t in doc if not t.is_space] == ["我们", "爱", "北京"]


def test_scores_of_words(project, capsys):
    nlp = blank()
    train(nlp)
    scores = evaluate(nlp, read_examples(nlp, project / "corpus" / "udc" / "test.spacy"), set())
    assert scores["word_f"] == scores["word_pos_f"] == 1.0 and scores["n_seen"] == 0
    print_scores({"ours": scores})
    out = capsys.readouterr().out
    assert "words with their parts of speech" in out and "entities" not in out and "PROPN" in out


def test_speed(project, capsys):
    nlp = blank()
    train(nlp)
    nlp.to_disk(project / "model")
    size = sum(file.stat().st_size for file in (project / "model").rglob("*") if file.is_file()) / 1e6
    folder = project / "model"
    study_words.measure_speed("udc", [f"one={folder}", f"two={folder},{folder}"], repeats=1)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(("one", "two"))]
    assert [(name, megabytes) for name, megabytes, *_ in rows] == [("one", f"{size:.1f}"), ("two", f"{2 * size:.1f}")]
    assert all(float(seconds) > 0 for _, _, seconds, _ in rows)
