import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import LexiconEntry, Normalization
from spacy_lexner.lexicon import table as table_module
from spacy_lexner.lexicon.build import build_table
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.lexicon.table import VectorSpool


def build(entries):
    table, _ = build_table(entries, dtype="float32", normalization=Normalization(), max_word_length=9)
    return table


def described(entry):
    return (entry.word, None if entry.vector is None else entry.vector.tolist(), *entry[2:])


ENTRIES = st.lists(
    st.builds(
        LexiconEntry,
        st.text("甲乙丙丁", min_size=1, max_size=3),
        st.one_of(st.none(), st.lists(st.integers(-9, 9), min_size=2, max_size=2).map(np.float32)),
        st.sampled_from([1.0, 2.5]),
        st.sampled_from(["", "LOC", ("LOC", "ORG")]),
        st.sampled_from(["", "Q1"]),
        st.sampled_from([(), (Rule("forbid"), Rule("prefer", "LOC", -0.5))]),
    ),
    unique_by=lambda entry: entry.word,
    max_size=12,
)


@given(ENTRIES, st.data())
def test_behaves_as_a_list_of_entries(entries, data):
    half = data.draw(st.integers(0, len(entries)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "MAX_IN_MEMORY", data.draw(st.sampled_from([0, 1 << 20])))
        table = build(entries[:half]).concat(build(entries[half:]))
        assert [described(table.entry(i)) for i in range(table.size)] == list(map(described, entries))
        rows = data.draw(st.permutations(range(len(entries))))[: data.draw(st.integers(0, len(entries)))]
        taken = table.take(np.array(rows, "i8"))
    assert [described(taken.entry(i)) for i in range(taken.size)] == [described(entries[row]) for row in rows]
    assert len(taken.vectors) == sum(entries[row].vector is not None for row in rows)
    assert taken.contents.tolist() == [int(build([entries[row]]).contents[0]) for row in rows]


def test_columns_that_say_nothing_are_left_out():
    table = build([LexiconEntry("甲"), LexiconEntry("乙")])
    assert (table.weights, table.texts, table.vector_rows) == (None, {}, None)
    assert table.vectors.shape == (0, 0)


@pytest.mark.parametrize("limit", [1 << 26, 64])  # in memory, and in a file
def test_rows_come_back(monkeypatch, limit):
    monkeypatch.setattr(table_module, "MAX_IN_MEMORY", limit)
    monkeypatch.setattr(table_module, "CHUNK_ROWS", 4)
    data = np.random.default_rng(0).normal(size=(50, 8)).astype("f2")
    with VectorSpool(data.dtype) as spool:
        assert [spool.append(row) for row in data[:3]] == [0, 1, 2]
        spool.extend(data)
        spool.extend(data, np.array([49, 0, 7, 7, 3]))
        vectors = spool.finish()
    assert spool.size == 58 and spool.dim == 8
    np.testing.assert_array_equal(vectors, np.concatenate([data[:3], data, data[[49, 0, 7, 7, 3]]]))
    assert not vectors.flags.writeable


def test_no_vectors():
    with VectorSpool(np.dtype("f4")) as spool:
        spool.extend(np.zeros((0, 7), "f4"))
        assert spool.finish().shape == (0, 0)
