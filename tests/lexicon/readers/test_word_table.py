import math

import pytest

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.readers import read_word_table


@pytest.fixture
def tsv(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('长江\t12\tn\n"引\t\t\n短\n', "utf8")
    return path


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        'id,name,type,freq,vector\nQ1,"大桥, 长江",LOC,2,1 2\nQ2,"多\n行",ORG,x,\nQ3,南京,,,"3,4"\n', "utf8"
    )
    return path


def test_columns_by_number(tsv):
    stream = read_word_table(tsv, weight=1, label=2)
    assert [(stream.line, *entry) for entry in stream] == [
        (1, "长江", None, 12.0, ("n",), "", ()),
        (2, '"引', None, 1.0, (), "", ()),
        (3, "短", None, 1.0, (), "", ()),
    ]


def test_columns_by_name(csv):
    stream = read_word_table(csv, word="name", label="type", entity_id="id", weight="freq", vector="vector")
    first, second, third = ((stream.line, entry) for entry in stream)
    assert first[0] == 2 and first[1].word == "大桥, 长江" and first[1][2:5] == (2.0, ("LOC",), "Q1")
    assert first[1].vector.tolist() == [1, 2]
    assert second[0] == 4 and second[1].word == "多\n行" and math.isnan(second[1].weight) and second[1].vector is None
    assert third[1].word == "南京" and third[1][2:5] == (1.0, (), "Q3") and third[1].vector.tolist() == [3, 4]


def test_header_delimiter_and_limit(csv, tmp_path):
    assert [entry.word for entry in read_word_table(csv, word=0, header=True, limit=2)] == ["Q1", "Q2"]
    assert next(read_word_table(csv, word=1)).word == "name"
    path = tmp_path / "a.txt"
    path.write_text("n|南京\n", "utf8")
    assert next(read_word_table(path, word=1, delimiter="|")).word == "南京"


def test_missing_column(csv):
    with pytest.raises(LexiconError, match=r"a.csv:1: no column named 'word'; the header has id, name, type"):
        list(read_word_table(csv, word="word"))
    with pytest.raises(LexiconError, match="no column named 'name'; the header has no names"):
        list(read_word_table(csv, word="name", header=False))


def test_number_beyond_all_rows(csv, tmp_path):
    with pytest.raises(LexiconError, match=r"a.csv: no row has a column 9: columns count from 0, and .* at most 5\."):
        list(read_word_table(csv, word=9, header=True))
    (tmp_path / "b.csv").write_text("长江 LOC 3\n南京 GPE 2\n", "utf8")
    with pytest.raises(LexiconError, match=r"no row has a column 2: .*commas in a \.csv file"):
        list(read_word_table(tmp_path / "b.csv", label=1, weight=2))
    (tmp_path / "b.csv").write_text("长江\n南京,GPE\n", "utf8")
    assert [entry.label for entry in read_word_table(tmp_path / "b.csv", label=1)] == ["", "GPE"]


def test_semicolons(tmp_path):
    """A spreadsheet's .csv in some countries."""
    (tmp_path / "b.csv").write_text("word;type\n长江;LOC\n", "utf8")
    for columns in ({}, {"label": 1}):
        with pytest.raises(
            LexiconError, match=r"a single cell with semicolons, as in '长江;LOC'\. Save the table with"
        ):
            list(read_word_table(tmp_path / "b.csv", **columns))
    (tmp_path / "b.csv").write_text("长江\n;)\n", "utf8")
    assert [entry.word for entry in read_word_table(tmp_path / "b.csv")] == ["长江", ";)"]


def test_open_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('甲,1\n"乙,2\n', "utf8")
    with pytest.raises(LexiconError, match=r"a.csv:2: not a row of a table"):
        list(read_word_table(path))


def test_header_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("word\n", "utf8")
    with pytest.raises(LexiconError, match="holds no words"):
        list(read_word_table(path, word="word"))


def test_real_table(data_dir):
    path = data_dir / "lexicon" / "jieba_words.tsv.gz"
    lexicon = Lexicon.from_entries(read_word_table(path, weight=1, label=2, limit=5000))
    assert len(lexicon) == 5000 and lexicon.get("AT&T")[2:5] == (3.0, ("nz",), "")
    assert all(entry.label and entry.weight >= 0 for entry in lexicon.entries())


def test_blank_rows_are_skipped(tmp_path):
    (tmp_path / "a.tsv").write_text("\t\n\n甲\t1\n\n乙\t2\n丙\t3\n", "utf8")
    assert [entry.word for entry in read_word_table(tmp_path / "a.tsv", weight=1, limit=2)] == ["甲", "乙"]


def test_blanks_around_names_and_before_the_header(tmp_path):
    (tmp_path / "a.csv").write_text("\n , \nword, type\n甲, n\n", "utf8")
    (entry,) = read_word_table(tmp_path / "a.csv", word="word", label="type")
    assert (entry.word, entry.label) == ("甲", "n")
