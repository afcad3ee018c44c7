import bz2
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tolerance import tolerance

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.word_vectors import parse_vector, read_word_vectors

FLOATS = st.lists(st.floats(-1e30, 1e30), min_size=1)
ROWS = ["的 0.1 0.2 0.3", "南京 1e-3 -2 3.5", "2000 4 5 6"]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("suffix,compress", [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_rows(tmp_path, header, suffix, compress):
    path = tmp_path / f"a.vec{suffix}"
    path.write_bytes(compress("\n".join(["3 3"] * header + ROWS).encode("utf8")))
    stream = read_word_vectors(path)
    entries = [(stream.line, entry.word, entry.vector) for entry in stream]
    assert [entry[:2] for entry in entries] == [(1 + header, "的"), (2 + header, "南京"), (3 + header, "2000")]
    np.testing.assert_array_equal(entries[1][2], np.array([1e-3, -2, 3.5], "f4"))


def test_spaces_and_tabs(tmp_path):
    path = tmp_path / "a.vec"
    path.write_text("甲 1 2 \n乙\t3\t4\n丙\t5 6\n", "utf8")
    assert [entry.vector.tolist() for entry in read_word_vectors(path)] == [[1, 2], [3, 4], [5, 6]]


def test_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "a.vec"
    path.write_text("\n".join(["3 3", "", *ROWS, " ", ""]), "utf8")
    stream = read_word_vectors(path)
    assert [(stream.line, entry.word) for entry in stream] == [(3, "的"), (4, "南京"), (5, "2000")]


def test_limit(tmp_path):
    path = tmp_path / "a.vec"
    path.write_text("\n".join(["3 3", *ROWS]), "utf8")
    assert [entry.word for entry in read_word_vectors(path, limit=2)] == ["的", "南京"]


def test_broken_rows_are_skipped_and_counted(tmp_path):
    path = tmp_path / "a.vec"
    rows = ["6 3", ROWS[0], "短 1 2", "无", "字 1 x 3", "非 1 nan 3", "San  Francisco 1 2"]
    path.write_text("\n".join(rows), "utf8")
    lexicon = Lexicon.from_entries(read_word_vectors(path))
    assert list(lexicon) == ["的"]
    assert lexicon.report.places == {"bad_vector": [f"{path}:{line}" for line in range(3, 8)]}


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("first", ["富士 施乐 0.5 -1 2", "的 0.5 -1 2"])
def test_words_with_spaces(tmp_path, header, first):
    rows = [first, "air max 1e-3 2 3", "iPhone 6 4 5 6", "San\tFrancisco 7 8 9\t"]
    path = tmp_path / "a.vec"
    path.write_text("\n".join([f"{len(rows)} 3"] * header + rows), "utf8")
    lexicon = Lexicon.from_entries(read_word_vectors(path))
    words = [first[: first.index(" 0.5")], "air max", "iPhone 6", "San Francisco"]
    assert list(lexicon) == words and not lexicon.report.n_skipped
    vectors = [[0.5, -1, 2], [1e-3, 2, 3], [4, 5, 6], [7, 8, 9]]
    np.testing.assert_array_equal([entry.vector for entry in read_word_vectors(path)], np.array(vectors, "f4"))


@pytest.mark.parametrize(
    "rows,message",
    [
        (["4 3", *ROWS], "a.vec: the header says 4 rows, the file has 3"),
        (["2 3", *ROWS], "a.vec: the header says 2 rows, the file has 3"),
        (["3 200", *ROWS], "a.vec:2: the header says 200 dimensions, this row has 3 numbers"),
        (["3 2", *ROWS], "a.vec:2: the header says 2 dimensions, this row has 3 numbers"),
        (["1 3", "富士 施乐 1 2"], "a.vec:2: the header says 3 dimensions, this row has 2 numbers"),
        (["3 3"], "a.vec: the header says 3 rows, the file has 0"),
        (["南京", "长江"], "a.vec:1: no vector after the first word"),
        (["南京 ns", "长江 ns"], "a.vec:1: no vector after the first word"),
    ],
)
def test_lies(tmp_path, rows, message):
    path = tmp_path / "a.vec"
    path.write_text("\n".join(rows), "utf8")
    with pytest.raises(LexiconError, match=message):
        list(read_word_vectors(path))


def test_truncated_archive(tmp_path):
    path = tmp_path / "a.vec.gz"
    data = gzip.compress("\n".join(f"w{i} {i} {i * 7 % 13}" for i in range(5000)).encode("utf8"))
    path.write_bytes(data[:-100])
    with pytest.raises(LexiconError, match=r"a.vec.gz:\d+: cannot be read"):
        Lexicon.from_entries(read_word_vectors(path))


def test_real_vectors(data_dir):
    path = data_dir / "vectors" / "tencent_char200.vec.gz"
    lexicon = Lexicon.from_entries(read_word_vectors(path), dtype="float16")
    assert (len(lexicon), lexicon.dim, lexicon.report.n_skipped) == (4758, 200, 0)
    with gzip.open(path, "rt", encoding="utf8") as file:
        next(file)
        word, *numbers = next(file).split()
    np.testing.assert_array_equal(lexicon.get(word).vector, np.array(numbers, "f4").astype("f2"))


@given(FLOATS, st.sampled_from(["%.5f", "%.9g", "%r", "%e", "%+.3f"]))
def test_numbers_are_those_that_python_reads(numbers, form):
    text = [form % number for number in numbers]
    expected = np.array([float(number) for number in text], "f4")
    np.testing.assert_allclose(parse_vector(" ".join(text)), expected, rtol=tolerance(2))


@pytest.mark.parametrize(
    "text,expected",
    [
        ("", []),
        ("1", [1]),
        ("-.5 -1", [-0.5, -1]),
        ("1  2 ", [1, 2]),
        (".5 +1", [0.5, 1]),
        ("nan 1", [np.nan, 1]),
        ("1 -inf", [1, -np.inf]),
    ],
)
def test_spellings(text, expected):
    np.testing.assert_array_equal(parse_vector(text), np.array(expected, "f4"))


@pytest.mark.parametrize("text", ["a", "1 b", "1,5 2,", "0x10", '"1" []', "[1] [2,3]", "{}", "true", "null", "1.2.3"])
def test_no_numbers(text):
    assert parse_vector(text).shape == (0,)


@given(st.lists(st.text("01.eE+-", min_size=1, max_size=4), min_size=1, max_size=3))
def test_what_is_no_number_to_python_is_none_here(fields):
    try:
        expected = np.array([float(field) for field in fields], "f4")
    except ValueError:
        expected = np.zeros(0, "f4")
    np.testing.assert_allclose(parse_vector(" ".join(fields)), expected, rtol=tolerance(2))
