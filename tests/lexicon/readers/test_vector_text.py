import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon.readers.vector_text import parse_vector

FLOATS = st.lists(st.floats(-1e30, 1e30), min_size=1)


@given(FLOATS, st.sampled_from(["%.5f", "%.9g", "%r", "%e", "%+.3f"]))
def test_numbers_are_those_that_python_reads(numbers, form):
    text = [form % number for number in numbers]
    expected = np.array([float(number) for number in text], "f4")
    np.testing.assert_allclose(parse_vector(" ".join(text)), expected, rtol=2e-7)


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
    np.testing.assert_allclose(parse_vector(" ".join(fields)), expected, rtol=2e-7)
