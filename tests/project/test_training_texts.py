"""Training texts become raw text, except those that are also dev or test texts."""

import gzip

import pytest
import training_texts
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

TRAIN = "这是训练集里的一个句子，它足够长，所以谁也不会碰巧写出同样的话来。"
TEST = "那是测试集里的另一个句子，它也足够长，没有别人会碰巧写出它来。"


def write(path, *texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=[Doc(Vocab(), list(text), spaces=[False] * len(text)) for text in texts]).to_disk(path)


def test_no_dev_or_test_text_of_any_set_is_written(tmp_path, capsys):
    corpus, out = tmp_path / "corpus", tmp_path / "raw" / "training.txt.gz"
    for name, train in (("one", [TRAIN, f"转发：{TEST}"]), ("two", ["短\n文", "短文二"])):
        write(corpus / name / "train.spacy", *train)
        write(corpus / name / "dev.spacy", "开发集")
        write(corpus / name / "test.spacy", TEST if name == "two" else "测试集")
    training_texts.main(out, corpus, sets="one two")
    assert gzip.decompress(out.read_bytes()).decode("utf8").splitlines() == [TRAIN, "短 文", "短文二"]
    assert "3 texts; 1 left out" in " ".join(capsys.readouterr().out.split())


def test_a_split_that_is_not_there_writes_nothing(tmp_path, capsys):
    write(tmp_path / "corpus" / "one" / "train.spacy", TRAIN)
    with pytest.raises(SystemExit):
        training_texts.main(tmp_path / "training.txt.gz", tmp_path / "corpus", sets="one")
    assert "cannot be collected" in capsys.readouterr().out and not (tmp_path / "training.txt.gz").exists()
