import numpy as np
import pytest

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.packing import check_places, pack, unpack


@pytest.fixture
def packed(lexicon):
    manifest, parts = pack(lexicon.base, lexicon.report)
    return manifest, {part: dict(arrays) for part, arrays in parts.items()}


def test_round_trip(lexicon, packed):
    base, report = unpack(*packed)
    assert pack(base, report)[0] == packed[0] and str(report) == str(lexicon.report)
    assert base.content == lexicon.base.content and base.trie.keys is lexicon.base.trie.keys


def test_missing_and_foreign_parts(packed):
    trie = packed[1].pop("trie")
    with pytest.raises(LexiconError, match=r"has the parts \['index', 'vectors', 'words'\]; expected"):
        unpack(*packed)
    packed[1].update(trie=trie, other={})
    with pytest.raises(LexiconError, match=r"has the parts .*'other'"):
        unpack(*packed)


@pytest.mark.parametrize(
    "part,name,change",
    [
        ("index", "hashes", lambda array: array[1:]),
        ("index", "rows", lambda array: array.astype("i8")),
        ("index", "word_offsets", lambda array: array[:-1]),
        ("trie", "keys", lambda array: array.view("i8")),
        ("trie", "levels", lambda array: array[:, :2]),
        ("vectors", "vectors", lambda array: array.T),
        ("vectors", "vectors", lambda array: array.astype("f2")),
        ("words", "words", lambda array: array.reshape(1, -1)),
    ],
)
def test_array_of_another_type_or_shape(packed, part, name, change):
    packed[1][part][name] = change(packed[1][part][name])
    with pytest.raises(LexiconError, match=f"The array '{name}' in the part '{part}' is .*; expected"):
        unpack(*packed)


def test_missing_and_foreign_arrays(packed):
    del packed[1]["index"]["weights"]
    with pytest.raises(LexiconError, match=r"The part 'index' holds .*; expected .*weights"):
        unpack(*packed)


@pytest.mark.parametrize("shift", [1, -1])
def test_offsets_that_do_not_fit(packed, shift):
    packed[1]["index"]["label_offsets"] = packed[1]["index"]["label_offsets"] + np.int64(shift)
    with pytest.raises(LexiconError, match="The offsets of 'label_data' do not match"):
        unpack(*packed)


@pytest.mark.parametrize(
    ("part", "name", "place", "value", "message"),
    [
        ("index", "rows", 0, 2**31 - 1, "array 'rows' points outside the range"),
        ("index", "rows", 1, -1, "array 'rows' points outside the range"),
        ("vectors", "vector_rows", 0, 63, "array 'vector_rows' points outside the range"),
        ("index", "word_offsets", 1, -(2**62), "offsets of 'words' do not ascend"),
    ],
)
def test_places_outside(packed, part, name, place, value, message):
    check_places(unpack(*packed)[0])
    array = packed[1][part][name] = packed[1][part][name].copy()
    array[place] = value
    with pytest.raises(LexiconError, match=message):
        check_places(unpack(*packed)[0])
