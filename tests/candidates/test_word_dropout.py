import numpy as np
import pytest
from spacy.util import fix_random_seed
from tolerance import sampling_error

from spacy_lexner.candidates.word_dropout import ALL, WordDropout
from spacy_lexner.lexicon import Lexicon
from spacy_lexner.lexicon.level import Candidates

LEXICON = Lexicon.from_entries([])
N_DOCS, N_WORDS = 400, 300


def batch():
    """Each Doc has each word, at a different place."""
    places = np.arange(N_WORDS)
    return [(Candidates(places, places + 2, places.astype("u8")), LEXICON) for _ in range(N_DOCS)]


def hidden(found):
    """bool[n_docs, n_words]"""
    shown = np.zeros((len(found), N_WORDS), bool)
    for row, (words, _) in zip(shown, found):
        row[words.hashes.astype("i8")] = True
        assert (words.starts == words.hashes).all() and (words.ends == words.starts + 2).all()
    return ~shown


def test_without_rates_nothing_is_hidden_and_no_number_drawn():
    before = np.random.get_state()[1:3]
    assert not hidden(WordDropout()(batch())).any()
    after = np.random.get_state()[1:3]
    assert (before[0] == after[0]).all() and before[1] == after[1]


def test_some_docs_lack_words():
    fix_random_seed(0)
    lost = hidden(WordDropout(0.3)(batch()))
    chosen = lost.any(1)
    assert chosen.mean() == pytest.approx(0.3, abs=sampling_error(0.3, N_DOCS))


def test_some_of_them_have_none_and_the_others_every_share():
    fix_random_seed(0)
    shares = hidden(WordDropout(1.0)(batch())).mean(1)
    none = shares == 1
    assert none.mean() == pytest.approx(ALL, abs=sampling_error(ALL, N_DOCS))
    for share in (0.25, 0.5, 0.75):
        assert (shares[~none] < share).mean() == pytest.approx(share, abs=sampling_error(share, (~none).sum()))


def test_a_word_is_missing_from_all_of_a_doc():
    fix_random_seed(0)
    places, hashes = np.arange(2 * N_WORDS), np.tile(np.arange(N_WORDS, dtype="u8"), 2)
    found = WordDropout(1.0)([(Candidates(places, places + 2, hashes), LEXICON)] * 20)
    assert any(0 < len(words.hashes) < 2 * N_WORDS for words, _ in found)
    for words, lexicon in found:
        assert lexicon is LEXICON
        assert (np.bincount(words.hashes.astype("i8"), minlength=N_WORDS) % 2 == 0).all()


def test_the_seed_decides():
    dropout, results = WordDropout(0.5), []
    for seed in (1, 1, 2):
        fix_random_seed(seed)
        results.append(hidden(dropout(batch())))
    assert (results[0] == results[1]).all() and (results[0] != results[2]).any()
    assert WordDropout(0.5)([]) == []


@pytest.mark.parametrize("rate", [-0.1, 1.5, float("nan")])
def test_rates(rate):
    with pytest.raises(ValueError, match=rf"lexicon\.lexicon_dropout = {rate}: expected a probability"):
        WordDropout(rate)
