import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.compare import compare, describe_change, describe_diff
from spacy_lexner.lexicon.rules import Rule

VECTORS = [None, np.zeros(2, "f4"), np.array([1, 0.1], "f4")]
RULES = st.sampled_from([(), (Rule("forbid"),), (Rule("force", "A"), Rule("prefer", "B", 1.0))])
ENTRIES = st.dictionaries(
    st.text("南京市", min_size=1, max_size=2),
    st.tuples(
        st.sampled_from(VECTORS),
        st.sampled_from([1.0, 2.0]),
        st.sampled_from(["", "A"]),
        st.sampled_from(["", "Q"]),
        RULES,
    ),
)


def build(entries, dtype="float32"):
    return Lexicon.from_entries([LexiconEntry(word, *rest) for word, rest in entries.items()], dtype=dtype)


def as_values(entries, dtype):
    """The same in Python, vectors as they are stored."""
    return {
        word: (None if vector is None else tuple(vector.astype(dtype).tolist()), *rest)
        for word, (vector, *rest) in entries.items()
    }


@given(ENTRIES, ENTRIES, st.sampled_from(["float32", "float16"]))
def test_as_dictionaries_differ(old, new, dtype):
    diff = compare(build(old), build(new, dtype))
    a, b = as_values(old, dtype), as_values(new, dtype)
    assert {diff.new.words.get(row) for row in diff.added} == b.keys() - a.keys()
    assert {diff.old.words.get(row) for row in diff.removed} == a.keys() - b.keys()
    assert {x.word for x, _ in diff.changes()} == {word for word in a.keys() & b.keys() if a[word] != b[word]}
    assert all(x.word == y.word for x, y in diff.changes())
    assert diff.empty == (a == b)
    for i, field in enumerate(("vector", "weight", "labels", "entity_id", "rules")):
        words = {diff.old.words.get(row) for row, _ in diff.changed[field].tolist()}
        assert words == {word for word in a.keys() & b.keys() if a[word][i] != b[word][i]}


def test_vectors_of_other_widths():
    diff = compare(build({"南": (np.ones(2, "f4"),)}), build({"南": (np.ones(3, "f4"),)}))
    assert [len(rows) for rows in diff.changed.values()] == [0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"weight": 2.5}, "weight 1 → 2.5"),
        ({"labels": ("LOC",), "entity_id": ""}, "labels none → LOC, entity id Q1 → none"),
        ({"vector": None}, "vector lost"),
        ({"vector": np.zeros(2)}, "vector changed"),
        ({"rules": (Rule("forbid"), Rule("force", "A"))}, "rules none → forbid; force A"),
        ({}, ""),
    ],
)
def test_description(changes, message):
    entry = LexiconEntry("南京", np.ones(2), entity_id="Q1")
    assert describe_change(entry, entry._replace(**changes)) == message
    assert describe_change(entry._replace(vector=None), entry) == "vector gained"


@pytest.mark.parametrize(
    "old,new,message",
    [
        (1234567, 1234568, "weight 1234567 → 1234568"),
        (0.1, 123456.79, "weight 0.1 → 123456.79"),
        (1e-5, 3e38, "weight 0.00001 → 3e+38"),
    ],
)
def test_weights_are_told_apart_and_rounded_vectors_are_not(old, new, message):
    vector = np.array([0.1, 1 / 3], "f4")
    both = build({"南京": (vector, old)}), build({"南京": (vector, new)}, "float16")
    assert describe_diff(compare(*both))["changed"] == {"南京": message}
