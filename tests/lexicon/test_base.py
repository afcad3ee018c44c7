import numpy as np

from spacy_lexner.lexicon import hash_word
from spacy_lexner.lexicon.normalization import to_codes

WORDS = ["长江", "南京", "市"]


def test_index_finds_the_rows(lexicon):
    base = lexicon._base
    ranks = base.ranks(np.array([hash_word(word) for word in [*WORDS, "武汉"]], "u8"))
    assert ranks[-1] == -1 == base.rank("武汉")
    assert [base.entry_at(rank).word for rank in ranks[:-1]] == WORDS
    assert [base.rank(word) for word in WORDS] == ranks[:-1].tolist()
    assert (np.diff(base.hashes.astype(object)) > 0).all()


def test_trie_gives_positions_in_the_hashes(lexicon):
    base = lexicon._base
    _, _, words = base.trie.match(to_codes("长江"))
    assert base.hash_of(words).tolist() == [hash_word("长江")]


def test_full_table(lexicon):
    base = lexicon._base
    table = base.full_table()
    assert table.hashes.tolist() == [hash_word(word) for word in lexicon]
    hidden = np.array(sorted(base.rank(word) for word in WORDS))
    assert list(base.full_table(hidden).words.all()) == [word for word in lexicon if word not in WORDS]
