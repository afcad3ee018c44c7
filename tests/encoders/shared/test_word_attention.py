import numpy as np
import pytest
import torch
from tolerance import assert_close

from spacy_lexner.candidates.batch_words import BatchWords
from spacy_lexner.encoders.shared.windows import cut_windows
from spacy_lexner.encoders.shared.word_attention import WordAttention, pad_slots
from spacy_lexner.encoders.shared.words import WordTable
from spacy_lexner.lexicon import Lexicon, LexiconEntry

N_TERMS = 4 + 3 * 6 + 3  # two transformations of a word, its score, the mean over the slots


def test_by_the_formula():
    torch.manual_seed(0)
    module = WordAttention(6, 4, initializer_range=1.0).eval()
    words, hidden = torch.randn(4, 4), torch.randn(2, 3, 6)
    slots = torch.tensor([[[1, 2, 0], [3, 0, 0], [0, 0, 0]], [[2, 3, 1], [0, 0, 0], [0, 0, 0]]])
    found = module.attend(hidden, words, slots)
    transformed = module.word_out(torch.tanh(module.word_in(words)))
    for b in range(2):
        for i in range(3):
            mine = transformed[slots[b, i][slots[b, i] > 0]]
            weights = (mine @ module.attention.t() @ hidden[b, i]).softmax(0)
            assert_close(found[b, i], weights @ mine, N_TERMS)


def test_a_token_without_words():
    slots, words, hidden = torch.zeros(1, 2, 3, dtype=torch.long), torch.randn(2, 4), torch.randn(1, 2, 6)
    assert (WordAttention(6, 4).eval().attend(hidden, words, slots) == 0).all()
    module = WordAttention(6, 4, empty="pad").eval()
    expected = module.word_out(torch.tanh(module.word_in(words[:1])))
    assert_close(module.attend(hidden, words, slots)[0], expected.expand(2, 6), N_TERMS)


def test_unknown_vector_of_no_words():
    with pytest.raises(ValueError, match="empty='none'"):
        WordAttention(6, 4, empty="none")


def test_records_what_it_attends_to():
    torch.manual_seed(0)
    module, record = WordAttention(6, 4, initializer_range=1.0).eval(), []
    words, hidden = torch.randn(4, 4), torch.randn(1, 2, 6)
    found = module.attend(hidden, words, torch.tensor([[[1, 3, 0], [0, 0, 0]]]), record)
    (weights,) = record
    assert_close(weights.sum(-1), torch.tensor([[1.0, 0.0]]), N_TERMS)
    transformed = module.word_out(torch.tanh(module.word_in(words)))
    assert_close(found[0, 0], weights[0, 0, 0] * transformed[1] + weights[0, 0, 1] * transformed[3], N_TERMS)


def test_a_word_that_its_window_cuts_stays_out():
    """南京 and 北京 in windows of three characters: 北京 lies across the border."""
    lexicon = Lexicon.from_entries([LexiconEntry("南京", np.ones(2, "f4")), LexiconEntry("北京", np.zeros(2, "f4"))])
    starts, lengths = np.array([0, 2]), np.array([2, 2])
    hashes = np.array([lexicon.hash("南京"), lexicon.hash("北京")], "u8")
    words = BatchWords(starts, starts + lengths, hashes, lengths, np.zeros(2, "i8"), [lexicon])
    slots, table = np.array([[0, -1], [0, -1], [1, -1], [1, -1]]), WordTable(2, 2, np.zeros(0, "u8"))
    rows, distinct = pad_slots(cut_windows(np.array([4]), 3, 3), slots, words, table, torch.device("cpu"))
    assert len(distinct.known) == 2
    south, north = rows[0, 0, 0], rows[1, 2, 0]
    assert south != north and rows[..., 0].tolist() == [[south, south, 0], [0, north, north]]
    assert not rows[..., 1].any()
