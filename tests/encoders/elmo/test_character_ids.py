import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.elmo.character_ids import ByteCharacters, UnicodeCharacters, character_ids

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=5)
LENGTH = 12


def rows(units, ids):
    """The layout of a row, spelt out."""
    row = [ids.begin_word, *units[: LENGTH - 2], ids.end_word]
    return row + [ids.padding] * (LENGTH - len(row))


@given(WORDS)
def test_bytes(words):
    ids = ByteCharacters(LENGTH)
    expected = [rows([byte + 1 for byte in word.encode("utf8")], ids) for word in words]
    assert ids.encode(words).tolist() == expected


@given(WORDS, st.text("南京市长江大桥𠮷é \n", min_size=1).map(set).map("".join))
def test_unicode(words, vocabulary):
    ids = UnicodeCharacters(vocabulary, LENGTH)
    numbers = {character: number for number, character in enumerate(sorted(vocabulary), 1)}
    expected = [rows([numbers.get(character, ids.unknown) for character in word], ids) for word in words]
    assert ids.encode(words).tolist() == expected
    assert ids.n_characters == len(vocabulary) + 7
    assert np.all(ids.encode(words) < ids.n_characters)


def test_long_token_is_cut_inside_a_character():
    ids = ByteCharacters().encode(["桥" * 10_000])
    assert ids.shape == (1, 50) and ids[0, 0] == 259 and ids[0, -1] == 260
    assert ids[0, 1:4].tolist() == [byte + 1 for byte in "桥".encode()]


def test_boundary_words_of_the_original():
    assert ByteCharacters(5).boundary_words().tolist() == [[259, 257, 260, 261, 261], [259, 258, 260, 261, 261]]


@pytest.mark.parametrize("ids", [ByteCharacters(7), UnicodeCharacters("桥大江", 9)])
def test_round_trip_through_json(ids):
    again = character_ids(json.loads(json.dumps(ids.to_dict())))
    words = ["大桥", "tower", " "]
    assert np.array_equal(again.encode(words), ids.encode(words))


def test_vocabulary_of_counts_keeps_the_most_frequent():
    ids = UnicodeCharacters.from_counts([("长江", 2), ("大", 1)], max_size=2)
    assert ids.characters == "".join(sorted("长江"))
    with pytest.raises(ValueError, match="is empty"):
        UnicodeCharacters.from_counts([])
    with pytest.raises(ValueError, match="'江' more than once"):
        UnicodeCharacters("江大江")
