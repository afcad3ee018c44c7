"""Dev and test texts are found in raw texts, which are never called clean if a split is missing."""

import gzip
from pathlib import Path

import check_overlap
import pytest
from check_overlap import ProtectedTexts
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

DEV = "这是开发集里的一个句子，它足够长，所以谁也不会碰巧写出同样的话来。"
TEST = "那是测试集里的另一个句子，它也足够长，没有别人会碰巧写出它来。"
LONG = "昨天下午我们在南京市长江大桥边上看见了很多从各地来的游客他们都在拍照留念。"
SHORT = "转发这条微博的人都会有好运气的。"
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
    assert "None of 8 protected texts" in capsys.readouterr().out


@pytest.mark.parametrize("text", [DEV, TEST])
@pytest.mark.parametrize("name", check_overlap.SETS.split())
def test_text_of_every_split_is_refused(corpus, tmp_path, capsys, name, text):
    write(tmp_path / "text" / "a.txt.gz", RAW)
    write(tmp_path / "text" / "b.txt.gz", RAW, f"转发 {name}：{text} 完")
    with pytest.raises(SystemExit):
        check_overlap.main([tmp_path / "text"], corpus)
    out = " ".join(capsys.readouterr().out.split())
    assert "b.txt.gz, line 2 contains a text of" in out and "1 lines contain dev or test texts" in out


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


def found(texts, **options):
    protected = ProtectedTexts([("weibo dev", LONG), ("weibo test", SHORT), ("weibo test", "转发微博")], **options)
    return [(overlap.source, overlap.line) for overlap in protected.find(texts)]


def test_whole_texts_and_long_runs_are_found_wherever_they_stand():
    texts = ["无关的一行。", f"他说：{SHORT}真的吗？", LONG[3:35], f"前言{LONG}", "转发微博"]
    assert found(texts) == [("weibo test", 2), ("weibo dev", 3), ("weibo dev", 4)]


def test_shorter_runs_are_not():
    assert found([LONG[:29], SHORT[:-1], LONG[:20] + LONG[21:]]) == []


def test_white_space_hides_nothing():
    assert found([" ".join(SHORT), "\u3000" + LONG.replace("长江", "长 江")]) == [("weibo test", 1), ("weibo dev", 2)]


def test_a_text_is_reported_once():
    assert len(found([SHORT * 3 + LONG])) == 1


@given(st.lists(st.text("天地人和", max_size=12), max_size=8), st.text("天地人和", max_size=30))
def test_the_same_as_a_loop(protected, text):
    run, shortest = 6, 3
    long_enough = [other for other in protected if len(other) >= shortest]
    expected = any(
        other in text if len(other) < run else any(other[i : i + run] in text for i in range(len(other) - run + 1))
        for other in long_enough
    )
    index = ProtectedTexts([("set", other) for other in protected], run=run, shortest=shortest)
    assert index.n_texts == len(long_enough)
    assert bool(list(index.find([text]))) == expected
