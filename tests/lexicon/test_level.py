import numpy as np
import pytest

from spacy_lexner.lexicon import hash_word
from spacy_lexner.lexicon.normalization import to_codes

WORDS = ["长江", "南京", "市"]


@pytest.fixture
def level(lexicon):
    return lexicon.base


def ranks_of(level, words):
    return level.ranks(np.array([hash_word(word) for word in words], "u8"))


def test_index_finds_the_rows(level):
    ranks = ranks_of(level, [*WORDS, "武汉"])
    assert ranks[-1] == -1
    assert [level.table.words.get(row) for row in level.rows[ranks[:-1]]] == WORDS
    assert (np.diff(level.hashes.astype(object)) > 0).all()


def test_the_trie_finds_ranks(level):
    _, _, words = level.trie.match(to_codes("长江"))
    assert level.hash_of(words).tolist() == [hash_word("长江")]


def test_hidden_words(lexicon, level):
    hidden = level.without(ranks_of(level, [*WORDS, "武汉"]))
    assert hidden.size == level.size - 3 and hidden.trie is level.trie
    assert ranks_of(hidden, WORDS).tolist() == [-1] * 3
    assert level.visible_table().hashes.tolist() == [hash_word(word) for word in lexicon]
    assert list(hidden.visible_table().words.all()) == [word for word in lexicon if word not in WORDS]
    assert level.without(np.array([-1])) is level
