"""Splits: those of the source, or a dev set held out of train with a fixed seed."""

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from split_dataset import hold_out, main


def write(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    docs = [Doc(Vocab(), words=list(text), spaces=[False] * len(text)) for text in texts]
    DocBin(attrs=["ENT_IOB", "ENT_TYPE"], docs=docs).to_disk(path)


def read(path):
    return [doc.text for doc in DocBin().from_disk(path).get_docs(Vocab())]


TEXTS = [f"第{i}句" for i in range(50)]


def test_held_out_once_and_for_all(tmp_path):
    write(tmp_path / "in" / "msra_train_bio.spacy", TEXTS)
    write(tmp_path / "in" / "msra_test_bio.spacy", ["第7句", "新的"])
    for out in ("a", "b"):
        main("msra", tmp_path / "in", tmp_path / out)
    train, dev, test = (read(tmp_path / "a" / f"{split}.spacy") for split in ("train", "dev", "test"))
    assert len(dev) == 5 and sorted(train + dev) == sorted(TEXTS) and test == ["第7句", "新的"]
    assert [read(tmp_path / "b" / f"{split}.spacy") for split in ("train", "dev")] == [train, dev]
    assert sorted(TEXTS, key=TEXTS.index) == [text for text in TEXTS if text in {*train, *dev}]


def test_order_is_kept():
    kept, held_out = hold_out(list(range(100)), 1)  # type: ignore[arg-type]
    assert kept == sorted(kept) and held_out == sorted(held_out)


def test_given_splits_and_repeated_texts(tmp_path, capsys):
    for split, texts in (("train", TEXTS), ("dev", TEXTS[:3]), ("test", ["新的"])):
        write(tmp_path / "in" / f"{split}.spacy", texts)
    main("weibo", tmp_path / "in", tmp_path / "out")
    assert read(tmp_path / "out" / "dev.spacy") == TEXTS[:3]
    assert "3 of them stand in train" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name, message", [("ontonotes", "Known are"), ("resume", "convert")])
def test_errors(tmp_path, capsys, name, message):
    with pytest.raises(SystemExit):
        main(name, tmp_path / "none", tmp_path / "out")
    assert message in capsys.readouterr().out
