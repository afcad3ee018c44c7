import math

import pytest

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.lexicon.readers import read_jieba_dictionary


@pytest.mark.parametrize(
    "line,word,weight,label",
    [
        ("长江大桥 12 ns", "长江大桥", 12, "ns"),
        ("长江大桥\t12\tns", "长江大桥", 12, "ns"),
        ("  长江大桥   12  ", "长江大桥", 12, ""),
        ("长江大桥 ns", "长江大桥", 1, "ns"),
        ("长江大桥", "长江大桥", 1, ""),
        ("AT&T 3 nz", "AT&T", 3, "nz"),
        ("1号 0.5 m", "1号", 0.5, "m"),
        ("2000 7 m", "2000", 7, "m"),
        ("云 计算 5 n", "云 计算", 5, "n"),  # white space in a word: the builder skips it, and says so
        ("长江大桥 1e3 ns", "长江大桥", 1000, "ns"),
        ("长江大桥\t-2.5", "长江大桥", -2.5, ""),
        ("Apple Watch", "Apple Watch", 1, ""),
        ("New York City 5 NS", "New York City", 5, "NS"),
        ("长江大桥 12 地名", "长江大桥", 12, "地名"),
        ("长江大桥\t12\tn-loc", "长江大桥", 12, "n-loc"),
        ("云 3 5", "云 3", 5, ""),
    ],
)
def test_lines(tmp_path, line, word, weight, label):
    path = tmp_path / "dict.txt"
    path.write_text(f"{line}\n终 1\n", "utf8")
    entry = next(read_jieba_dictionary(path))
    assert (entry.word, entry.weight, entry.label, entry.vector) == (word, weight, label, None)


def test_number_that_is_none(tmp_path):
    path = tmp_path / "dict.txt"
    path.write_text("甲 1.2.3 n\n乙 2 n\n", "utf8")
    assert math.isnan(next(read_jieba_dictionary(path)).weight)
    assert Lexicon.from_entries(read_jieba_dictionary(path)).report.skipped == {"bad_weight": 1}


def test_limit_counts_words_not_blank_lines(tmp_path):
    path = tmp_path / "dict.txt"
    path.write_text("\n甲 1\n \n乙 2\n丙 3\n", "utf8")
    assert [entry.word for entry in read_jieba_dictionary(path, limit=2)] == ["甲", "乙"]


def test_real_dictionary(data_dir):
    stream = read_jieba_dictionary(data_dir / "lexicon" / "jieba_words.tsv.gz", limit=1000)
    entries = list(stream)
    assert len(entries) == 1000 and entries[0][2:4] == (3.0, ("nz",)) and entries[0].word == "AT&T"
