import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError
from spacy_lexner.lexicon.readers.any_file import detect_format, read_any

JIEBA = "云计算 5\n李小福 2 nr\n创新办 3 i\n台中\n凱特琳 nz\nEdu Trust认证 2000\n"  # as in jieba's userdict.txt
SAMPLES = {
    "words": [
        *("南京\n大桥\n", "New York\n", "iPhone 5\nXbox\n", "iPhone 15 Pro\niPhone 15\n小米\n", "① ②\n南京\n"),
        *("南京\n长江\n大桥\n云计算 5 n\n", "南京 nan\n长江 inf\n", "等等 ...\n"),
    ],
    "jieba": [
        *("南京 30 ns\n大桥 2\n", "南京\t30\tns\n", "富士 施乐 30 nt\n南京 3 ns\n", "air max\t3\n", "2 3\n4 5\n"),
        *(JIEBA, f"# my words\n{JIEBA}", "南京\t1e3\tns\n长江\t-2\tns\n", "南京 3 地名\n长江 2 河流\n"),
    ],
    "vectors": ["南京 0.5 1 -2e-3\n", "2 3\n南京 1 2 3\n大桥 1 2 3\n", "1 1\n南京 0.5\n", "南京\t1 2 3\n"],
    "table": ["南京\tGPE\n大桥\tLOC\n", "南京\t1\tGPE\tQ1\n", "南京\tGPE\t3\n"],
}


@pytest.mark.parametrize("format, text", [(format, text) for format, texts in SAMPLES.items() for text in texts])
def test_formats(tmp_path, format, text):
    (tmp_path / "file.txt").write_text(text)
    assert detect_format(tmp_path / "file.txt") == format


@pytest.mark.parametrize(
    "number, bad", [(2, "北京 1 x 3"), (2, "北京 1"), (1, "3 9"), (3, "北京"), (2, "北京 1 2 x ns")]
)
def test_a_damaged_row_of_vectors_is_named(tmp_path, number, bad):
    lines = [f"词{i} {i} 2.5 3" for i in range(8)]
    lines.insert(number - 1, bad)
    (tmp_path / "file.txt").write_text("\n".join(lines), "utf8")
    with pytest.raises(LexiconError, match=rf"file\.txt:{number}: '{bad}' is not a word and its vector"):
        detect_format(tmp_path / "file.txt")
    if number > 1:
        assert len(Lexicon.from_entries(read_any(tmp_path / "file.txt", "vectors"))) == 8


def test_names(tmp_path):
    for name in ("file.csv", "FILE.CSV"):
        (tmp_path / name).write_text("南京,1\n")
        assert detect_format(tmp_path / name) == "table"
        assert [entry.word for entry in read_any(tmp_path / name)] == ["南京"]


@pytest.mark.parametrize(
    "format, text",
    [
        ("table", "南京\t30\tns\n"),
        ("table", "南京\tGPE\t0.5 1 2\n"),
        ("table", "南京\t30\n"),
        ("vectors", "南京\t0.5 1 2\n"),
        ("jieba", "南京 30 ns\n"),
        ("words", "南京\n"),
    ],
)
def test_columns_concern_tables(tmp_path, format, text):
    (tmp_path / "file.txt").write_text(text)
    assert detect_format(tmp_path / "file.txt", has_columns=True) == format


def test_real_files(data_dir):
    found = {path.name: detect_format(path) for path in (*data_dir.glob("lexicon/*"), *data_dir.glob("vectors/*"))}
    assert found == {
        "jieba_words.tsv.gz": "jieba",
        "zhwiki_titles_2to10.txt.gz": "words",
        "thuocl_words.txt.gz": "words",
        "tencent_char200.vec.gz": "vectors",
        **{f"{unit}_50d.vec.gz": "vectors" for unit in ("words", "chars", "bigrams")},
    }


@pytest.mark.parametrize("name", ["words.json", "words.jsonl.gz", "Words.XLSX"])
def test_files_that_are_no_lists(tmp_path, name):
    (tmp_path / name).write_text('["南京", "大桥"]\n', "utf8")
    with pytest.raises(LexiconError, match=f"{name}: .* files are not read"):
        detect_format(tmp_path / name)


def test_entries(tmp_path):
    (tmp_path / "file.txt").write_text("南京 30 ns\n大桥 2\n")
    assert list(read_any(tmp_path / "file.txt", limit=1)) == [LexiconEntry("南京", None, 30, "ns")]
    assert [entry.word for entry in read_any(tmp_path / "file.txt", "words")] == ["南京 30 ns", "大桥 2"]
    with pytest.raises(LexiconError, match="Unknown format 'xml'"):
        read_any(tmp_path / "file.txt", "xml")


def test_a_saved_lexicon(tmp_path):
    entries = [LexiconEntry("南京", None, 30, "ns"), LexiconEntry("大桥", entity_id="Q1")]
    Lexicon.from_entries(entries).save(tmp_path / "lexicon")
    stream = read_any(tmp_path / "lexicon")
    assert list(stream) == entries and stream.line == 2


@pytest.mark.parametrize("separator", [",", "|", "；"])
def test_a_table_with_other_separators_is_no_list_of_words(tmp_path, separator):
    path = tmp_path / "words.txt"
    lines = [separator.join(row) for row in (("南京", "GPE"), ("长江", "LOC"), ("大桥", ""))]
    path.write_text("\n".join(lines), "utf8")
    assert detect_format(path) == "words"  # 大桥, and nothing after it
    path.write_text("\n".join([*lines[:2], f"南京{separator}市长"]), "utf8")
    with pytest.raises(LexiconError, match=rf"each of the first 3 lines has a '\{separator}', as in '南京"):
        detect_format(path)
    assert len(Lexicon.from_entries(read_any(path, "words"))) == 3
