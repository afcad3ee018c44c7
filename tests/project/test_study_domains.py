"""A language model pretrained on one kind of text knows that kind better than another."""

import json
import sys

import pytest
import spacy
import study_domains
from spacy.tokens import DocBin
from spacy.training.pretrain import pretrain

from configs import filled

KNOWN, OTHER = "武汉市长江大桥很长", "我在济南吃黄河鲤鱼"


@pytest.fixture
def run(tmp_path):
    """A run of a few updates on one sentence, with a vocabulary of both."""
    vocab, text, out = tmp_path / "vocab.txt", tmp_path / "text.txt", tmp_path / "run"
    vocab.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({*KNOWN, *OTHER})]), "utf8")
    text.write_text(f"{KNOWN}\n", "utf8")
    config = filled("pretrain_small")
    config["paths"].update(raw_text=str(text))
    config["components"]["tok2vec"]["model"].update(
        vocab=str(vocab), hidden_width=32, depth=1, heads=2, intermediate_width=32
    )
    config["pretraining"].update(max_epochs=1)
    config["pretraining"]["objective"].update(log_every=0, progress_bar=False)
    config["pretraining"]["batcher"].update(n_batches=60)
    config["pretraining"]["batcher"]["batcher"].update(max_tokens=100, buffer=10)
    config["pretraining"]["optimizer"]["learn_rate"].update(initial_rate=0.01, total_steps=60)
    out.mkdir()
    config.to_disk(out / "config.cfg")
    pretrain(config.interpolate(), out)
    return out


def test_texts_that_are_known_and_others(run, tmp_path, monkeypatch, capsys):
    other = tmp_path / "other.spacy"
    nlp = spacy.blank("zh")
    DocBin(docs=[nlp.make_doc(OTHER)] * 40).to_disk(other)
    known = tmp_path / "known.txt"
    known.write_text(f"{KNOWN}\n" * 40, "utf8")
    monkeypatch.setattr(sys, "argv", ["study_domains.py", str(run), f"known={known}", f"other={other}"])
    study_domains.main()
    out = capsys.readouterr().out
    figures = json.loads(out.splitlines()[-1])
    assert figures["known"]["found"] > 0.8 > 0.2 > figures["other"]["found"]
    assert figures["known"]["loss"] < figures["other"]["loss"]
    assert f"| known | {figures['known']['loss']:.2f} |" in out


def test_so_many_characters_and_no_more(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(f"{KNOWN}\n" * 40, "utf8")
    assert len(study_domains.read(spacy.blank("zh"), str(text), 20)) == 3
