import numpy as np
import pytest
from spacy.util import fix_random_seed
from tolerance import sampling_error

from spacy_lexner.candidates.word_dropout import WordDropout
from spacy_lexner.lexicon import Lexicon
from spacy_lexner.lexicon.level import Candidates

LEXICON = Lexicon.from_entries([])
N_DOCS, N_WORDS = 400, 300


def batch():
    """Each Doc has each word, at a place of its own."""
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


def test_a_doc_has_all_words_or_none():
    fix_random_seed(0)
    lost = hidden(WordDropout(lexicon_dropout=0.3)(batch()))
    assert (lost.all(1) == lost.any(1)).all()
    assert lost.mean() == pytest.approx(0.3, abs=sampling_error(0.3, N_DOCS))


def test_a_word_is_missing_everywhere_or_nowhere():
    fix_random_seed(0)
    lost = hidden(WordDropout(word_dropout=0.3)(batch()))
    assert (lost.all(0) == lost.any(0)).all()
    assert lost.mean() == pytest.approx(0.3, abs=sampling_error(0.3, N_WORDS))


def test_both_and_again():
    dropout, results = WordDropout(0.5, 0.5), []
    for seed in (1, 1, 2):
        fix_random_seed(seed)
        results.append(hidden(dropout(batch())))
    assert (results[0] == results[1]).all() and (results[0] != results[2]).any()
    kept = ~results[0].all(1)
    assert kept.any() and (results[0][kept] == results[0][kept][0]).all() and results[0][kept].any()
    assert hidden(WordDropout(1.0)(batch())).all() and hidden(WordDropout(word_dropout=1.0)(batch())).all()
    assert WordDropout(0.5, 0.5)([]) == []


@pytest.mark.parametrize("name", ["lexicon_dropout", "word_dropout"])
@pytest.mark.parametrize("rate", [-0.1, 1.5, float("nan")])
def test_rates(name, rate):
    with pytest.raises(ValueError, match=rf"lexicon\.{name} = {rate} is out of range"):
        WordDropout(**{name: rate})
