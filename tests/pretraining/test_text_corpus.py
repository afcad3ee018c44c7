import gzip
import random

import pytest
import spacy

from spacy_lexner.pretraining.text_corpus import TextCorpus


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("zh")


def texts(corpus: TextCorpus, nlp):
    return [example.reference.text for example in corpus(nlp)]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return str(path)


def test_a_line_is_a_doc(tmp_path, nlp):
    path = write(tmp_path / "a.txt", "\ufeff南京市长江大桥\r\n\n  北京 \nx\n最后一行")
    assert texts(TextCorpus(path), nlp) == ["南京市长江大桥", "北京", "x", "最后一行"]
    assert texts(TextCorpus(path, min_length=2), nlp) == ["南京市长江大桥", "北京", "最后一行"]
    assert texts(TextCorpus(path, limit=2), nlp) == ["南京市长江大桥", "北京"]


def test_sentences_make_documents_with_bounds(tmp_path, nlp):
    path = write(tmp_path / "a.txt", "\n第一句。\n第二 句。\n\n\n第三句。\n")
    docs = [example.reference for example in TextCorpus(path, sentences=True)(nlp)]
    assert [[sentence.text for sentence in doc.sents] for doc in docs] == [["第一句。", "第二 句。"], ["第三句。"]]
    assert docs[0].text == "第一句。第二 句。"


def test_files_folders_and_gzip(tmp_path, nlp):
    write(tmp_path / "b.txt", "二\n")
    with gzip.open(tmp_path / "c.txt.gz", "wt", encoding="utf-8") as file_:
        file_.write("三\n")
    write(tmp_path / "ignored.md", "零\n")
    first = write(tmp_path / "first.text", "一\n")
    assert texts(TextCorpus([first, str(tmp_path)]), nlp) == ["一", "二", "三"]


def test_documents_do_not_run_over_the_end_of_a_file(tmp_path, nlp):
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, f"{name}一\n{name}二")
    assert len(texts(TextCorpus(str(tmp_path), sentences=True), nlp)) == 2


class Plain:
    """A pipeline with a trivial tokenizer."""

    vocab = spacy.blank("zh").vocab

    def make_doc(self, text):
        return spacy.tokens.Doc(self.vocab, words=[text], spaces=[False])


def test_a_line_of_ten_megabytes_is_cut_at_sentence_ends(tmp_path, nlp):
    sentence = "这是一个句子。"
    path = write(tmp_path / "a.txt", sentence * 500_000 + "尾" * 5000)
    corpus = TextCorpus(path, max_length=200)
    parts = []
    for example in corpus(Plain()):
        part = example.reference.text
        assert len(part) <= 200
        parts.append(part)
    assert "".join(parts) == sentence * 500_000 + "尾" * 5000
    assert all(part.endswith("。") for part in parts[:-26])


@pytest.mark.parametrize("sentences", [False, True])
def test_shuffling_follows_the_seed_and_keeps_every_doc(tmp_path, nlp, sentences):
    lines = [f"第{i}行" + ("" if i % 3 else "\n") for i in range(50)]
    write(tmp_path / "a.txt", "\ufeff" + "\n".join(lines[:20]))
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file_:
        file_.write("\r\n".join(lines[20:]))
    corpus = TextCorpus(str(tmp_path), sentences=sentences, shuffle=True)
    orders = []
    for seed in (1, 1, 2):
        random.seed(seed)
        orders.append(texts(corpus, nlp))
    assert orders[0] == orders[1] != orders[2]
    plain = texts(TextCorpus(str(tmp_path), sentences=sentences), nlp)
    assert sorted(orders[2]) == sorted(plain) and orders[2] != plain
    random.seed(1)
    assert texts(corpus, nlp) != texts(corpus, nlp)  # another order each epoch


@pytest.mark.parametrize("shuffle", [True, False])
def test_gbk_is_refused_with_file_line_and_remedy(tmp_path, nlp, shuffle):
    path = tmp_path / "gbk.txt"
    path.write_bytes(b"abc\n" + "南京市".encode("gbk"))
    with pytest.raises(ValueError, match=r"gbk.txt, line 2, byte 1 is not UTF-8 .*iconv -f GB18030"):
        texts(TextCorpus(str(path), shuffle=shuffle), nlp)


@pytest.mark.parametrize("content", ["", "\n \n\t\n"])
@pytest.mark.parametrize("sentences", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
def test_an_empty_file_is_an_error(tmp_path, nlp, content, sentences, shuffle):
    path = write(tmp_path / "empty.txt", content)
    with pytest.raises(ValueError, match=r"no text in .*empty.txt"):
        texts(TextCorpus(path, sentences=sentences, shuffle=shuffle), nlp)


def test_what_is_not_there_is_named(tmp_path, nlp):
    with pytest.raises(ValueError, match=r"no text file .*missing.txt"):
        texts(TextCorpus(str(tmp_path / "missing.txt")), nlp)
    with pytest.raises(ValueError, match="holds no text"):
        texts(TextCorpus(str(tmp_path)), nlp)
    with pytest.raises(ValueError, match="max_length is 3"):
        TextCorpus("x", min_length=5, max_length=3)
    with pytest.raises(ValueError, match="limit is -1; expected a number of texts, or 0 for all"):
        TextCorpus("x", limit=-1)


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_truncated_or_damaged_gzip_file_is_named(tmp_path, nlp, shuffle):
    whole = gzip.compress("一行文字\n".encode() * 1000)
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut.txt.gz is not a complete gzip file"):
        texts(TextCorpus(str(path), shuffle=shuffle), nlp)
    path.write_bytes(whole[:20] + b"\xff" * 4 + whole[24:])
    with pytest.raises(ValueError, match=r"cut.txt.gz is not a complete gzip file \(Error -3 while decompressing"):
        texts(TextCorpus(str(path), shuffle=shuffle), nlp)


@pytest.mark.parametrize("shuffle", [True, False])
def test_lines_and_gzip_files_over_the_limits(tmp_path, nlp, shuffle, monkeypatch):
    write(tmp_path / "a.txt", "短\n" + "长" * 400)
    with gzip.open(tmp_path / "b.txt.gz", "wb") as file_:
        file_.write(b"a\n" * 1000)
    monkeypatch.setenv("LEXNER_LIMITS", "line=1000,unpacked=1500")
    for name, problem in (
        ("a.txt", "a.txt, line 2: it has more bytes than the limit 'line'"),
        ("b.txt.gz", "unpacked"),
    ):
        with pytest.raises(ValueError, match=problem):
            texts(TextCorpus(str(tmp_path / name), shuffle=shuffle), nlp)


@pytest.mark.parametrize("path", [None, "", []])
def test_a_path_is_needed_only_when_the_text_is_read(path, nlp):
    corpus = TextCorpus(path)
    with pytest.raises(ValueError, match=r"paths\.raw_text"):
        next(corpus(nlp))
