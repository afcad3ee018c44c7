import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import LexiconError, strings
from spacy_lexner.lexicon.strings import Strings, StringsBuilder, empty_strings


def build(items):
    builder = StringsBuilder()
    for item in items:
        builder.append(item)
    return builder.finish()


@given(st.lists(st.text()), st.lists(st.text()), st.data())
def test_behaves_as_a_list(items, others, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "CHUNK_ROWS", 3)
        column = build(items)
        assert column.size == len(items) and list(column.all()) == items
        assert [column.get(i) for i in range(len(items))] == items
        assert column.any() == any(items)
        both = column.concat(build(others))
        assert list(both.all()) == items + others
        rows = data.draw(st.lists(st.integers(0, max(0, both.size - 1)), max_size=10 if both.size else 0))
        assert list(both.take(np.array(rows, "i8")).all()) == [(items + others)[row] for row in rows]


def test_data_is_a_text_file():
    assert build(["南京", "", "a"]).data.tobytes() == "南京\n\na\n".encode()


def test_empty_strings():
    assert list(empty_strings(3).all()) == ["", "", ""] and not empty_strings(3).any()


def test_lone_surrogate_is_replaced():
    assert build(["a\ud800"]).get(0) == "a?"


def test_damaged_bytes_are_refused():
    damaged = Strings(np.frombuffer(b"\xff\xfe\n", "u1"), np.array([0, 3]))
    with pytest.raises(LexiconError, match="verify=True"):
        damaged.get(0)
    with pytest.raises(LexiconError, match="not UTF-8"):
        list(damaged.all())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)))
def test_lengths(strings):
    np.testing.assert_array_equal(build(strings).lengths(), [len(string) for string in strings])
