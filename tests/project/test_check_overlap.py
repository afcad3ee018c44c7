"""No text of a dev or test split is pretrained on: it is found, and without the splits nothing is said to be clean."""

import gzip
from pathlib import Path

import check_overlap
import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

DEV = "这是开发集里的一个句子，它足够长，所以谁也不会碰巧写出同样的话来。"
TEST = "那是测试集里的另一个句子，它也足够长，没有别人会碰巧写出它来。"
RAW = "这里是一段普通的文字，和数据集没有任何关系，谁都可以拿来预训练。"


@pytest.fixture
def corpus(tmp_path):
    for name in check_overlap.SETS.split():
        for split, text in (("dev", f"{name}：{DEV}"), ("test", f"{name}：{TEST}")):
            (tmp_path / "corpus" / name).mkdir(parents=True, exist_ok=True)
            DocBin(docs=[Doc(Vocab(), list(text), spaces=[False] * len(text))]).to_disk(
                tmp_path / "corpus" / name / f"{split}.spacy"
            )
    return tmp_path / "corpus"


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf8")))
    return path


def test_clean_text_passes(corpus, tmp_path, capsys):
    check_overlap.main([write(tmp_path / "text" / "a.txt.gz", RAW)], corpus)
    assert "No text of 8 protected ones" in capsys.readouterr().out


@pytest.mark.parametrize("text", [DEV, TEST])
@pytest.mark.parametrize("name", check_overlap.SETS.split())
def test_text_of_every_split_is_refused(corpus, tmp_path, capsys, name, text):
    write(tmp_path / "text" / "a.txt.gz", RAW)
    write(tmp_path / "text" / "b.txt.gz", RAW, f"转发 {name}：{text} 完")
    with pytest.raises(SystemExit):
        check_overlap.main([tmp_path / "text"], corpus)
    out = " ".join(capsys.readouterr().out.split())
    assert "b.txt.gz, line 2 holds a text of" in out and "1 lines share texts" in out


def test_a_split_that_is_not_there_is_no_pass(corpus, tmp_path, capsys):
    (corpus / "msra" / "test.spacy").unlink()
    text = write(tmp_path / "text" / "a.txt.gz", RAW)
    with pytest.raises(SystemExit):
        check_overlap.main([text], corpus)
    assert "leave it out of vars.protected" in " ".join(capsys.readouterr().out.split())
    check_overlap.main([text], corpus, sets="weibo resume cluener")


def test_text_that_is_not_utf8_is_named(corpus, tmp_path, capsys):
    (tmp_path / "gbk.txt").write_bytes(RAW.encode("gbk"))
    with pytest.raises(SystemExit):
        check_overlap.main([tmp_path / "gbk.txt"], corpus)
    assert "gbk.txt" in capsys.readouterr().out
