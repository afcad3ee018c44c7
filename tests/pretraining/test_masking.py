from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tolerance import sampling_error

from spacy_lexner.pretraining.masking import (
    MACBERT_NGRAMS,
    MASKING_UNITS,
    NO_WORD,
    Masking,
    check_masking,
    mask_pieces,
    prediction_budget,
)

ALBERT_NGRAMS = (1.0, 1 / 2, 1 / 3)  # Lan et al. 2020, section 3.1: p(n) is proportional to 1/n

MASK_ID, VOCAB_SIZE = 4, 50


def mask(ids, words, masking, seed=0):
    return mask_pieces(np.array(ids), np.array(words), masking, Random(seed), mask_id=MASK_ID, vocab_size=VOCAB_SIZE)


@st.composite
def sequences(draw):
    """Pieces and word numbers as in an encoder: [CLS] words [SEP], sometimes with a second segment."""
    words, number = [NO_WORD], 0
    for _ in range(draw(st.integers(1, 2))):
        for size in draw(st.lists(st.integers(1, 6), max_size=25)):
            words += [number] * size
            number += 1
        words.append(NO_WORD)
    ids = draw(st.lists(st.integers(5, VOCAB_SIZE - 1), min_size=len(words), max_size=len(words)))
    return np.array(ids), np.array(words)


@given(
    sequence=sequences(),
    unit=st.sampled_from(MASKING_UNITS),
    share=st.sampled_from([0.05, 0.15, 0.5, 0.9]),
    limit=st.one_of(st.none(), st.integers(1, 10)),
    seed=st.integers(0, 1000),
)
def test_properties_of_every_masking(sequence, unit, share, limit, seed):
    ids, words = sequence
    masking = Masking(unit, share=share, max_predictions=limit)
    budget = prediction_budget(len(ids), masking)
    before = ids.copy()
    masked = mask(ids, words, masking, seed)
    assert (ids == before).all()
    selected = np.zeros(len(ids), dtype=bool)
    selected[masked.positions] = True
    assert selected.sum() == len(masked.positions) <= budget
    assert (masked.positions == np.flatnonzero(selected)).all()
    assert (masked.labels == ids[selected]).all()
    assert (masked.input_ids[~selected] == ids[~selected]).all()
    assert not selected[words == NO_WORD].any()
    if unit == "piece":
        assert selected.sum() == min(budget, (words != NO_WORD).sum())
    else:
        for word in set(words[selected].tolist()):
            assert selected[words == word].all()
    assert mask(ids, words, masking, seed).input_ids.tolist() == masked.input_ids.tolist()


@pytest.mark.parametrize(
    ("length", "budget"), [(1, 1), (3, 1), (10, 2), (16, 2), (17, 3), (30, 4), (50, 8), (70, 10), (128, 19), (512, 77)]
)
def test_the_budget_is_rounded_half_to_even(length, budget):
    assert prediction_budget(length, Masking()) == budget
    assert prediction_budget(length, Masking(max_predictions=5)) == min(5, budget)


@pytest.mark.parametrize("unit", MASKING_UNITS)
def test_nothing_to_mask_gives_nothing(unit):
    for words in ([], [NO_WORD], [NO_WORD, NO_WORD]):
        masked = mask(range(5, 5 + len(words)), words, Masking(unit))
        assert not len(masked.positions) and not len(masked.labels)
        assert len(masked.input_ids) == len(words)
    long_word = mask([2, 8, 9, 3], [NO_WORD, 0, 0, NO_WORD], Masking("whole_word"))
    assert not len(long_word.positions)  # a word of two pieces does not fit into a budget of one


def test_of_the_selected_pieces_most_are_masked_some_kept_some_random():
    ids = np.tile(np.arange(5, VOCAB_SIZE), 400)
    words = np.arange(len(ids))
    for masking in (Masking(), Masking(mask_share=0.5, random_share=0.3), Masking(mask_share=1.0, random_share=0.0)):
        masked = mask(ids, words, masking)
        shown = masked.input_ids[masked.positions]
        kept = 1 - masking.mask_share - masking.random_share
        by_chance = masking.random_share / VOCAB_SIZE
        for share, expected in (
            (np.mean(shown == MASK_ID), masking.mask_share + by_chance),
            (np.mean(shown == masked.labels), kept + by_chance),
        ):
            assert share == pytest.approx(expected, abs=sampling_error(expected, len(shown)))
        others = shown[(shown != masked.labels) & (shown != MASK_ID)]
        if masking.random_share:
            assert set(others.tolist()) == set(range(VOCAB_SIZE)) - {MASK_ID}  # special pieces among them


@pytest.mark.parametrize("shares", [ALBERT_NGRAMS, MACBERT_NGRAMS, (0.0, 1.0), (0.0, 0.0, 5.0)])
def test_lengths_of_ngrams_follow_their_shares(shares):
    """With a small share, n-grams seldom touch, so that runs of masked words have the lengths drawn."""
    words = np.repeat(np.arange(4000), 2)
    masked = mask(np.full(len(words), 7), words, Masking("ngram", share=0.02, ngram_shares=shares))
    runs = np.split(words[masked.positions], np.flatnonzero(np.diff(masked.positions) > 1) + 1)
    lengths = np.array([len(set(run.tolist())) for run in runs])
    for n, share in enumerate(shares, 1):
        expected = share / sum(shares)
        met = 2 * 0.02 * 4  # the share of n-grams that touch another one, of up to 4 words
        assert np.mean(lengths == n) == pytest.approx(expected, abs=sampling_error(expected, len(runs)) + met)


def test_an_ngram_never_runs_over_a_special_piece():
    """Three words apart, bigrams wanted, two pieces allowed: each pair of words is as likely, neighbours or not."""
    words = [NO_WORD, 0, NO_WORD, 1, NO_WORD, 2, NO_WORD]
    masking = Masking("ngram", share=0.3, ngram_shares=(0.0, 1.0))
    seen = [tuple(mask(range(5, 12), words, masking, seed).positions.tolist()) for seed in range(900)]
    for pair in ((1, 3), (1, 5), (3, 5)):
        assert seen.count(pair) / 900 == pytest.approx(1 / 3, abs=sampling_error(1 / 3, 900))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unit": "word"}, "masking is 'word'; expected one of piece, whole_word, ngram"),
        ({"share": 0.0}, "share is 0.0; expected"),
        ({"share": 1.5}, "share is 1.5; expected"),
        ({"mask_share": 0.9, "random_share": 0.2}, "mask_share is 0.9, random_share is 0.2; expected"),
        ({"max_predictions": 0}, "max_predictions is 0"),
        ({"ngram_shares": ()}, r"ngram_shares is \[\]"),
        ({"ngram_shares": (0.0, 0.0)}, r"ngram_shares is \[0.0, 0.0\]"),
        ({"ngram_shares": (1.0, -1.0)}, "a weight of at least 0"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        check_masking(Masking()._replace(**settings))
    check_masking(Masking())
