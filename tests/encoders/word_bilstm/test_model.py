import torch
from tolerance import assert_close, moved

from spacy_lexner.encoders.shared.words import Words
from spacy_lexner.encoders.word_bilstm.model import WordBatch, WordBiLSTM, build_word_bilstm

N_TERMS = 4 * (5 + 4 + 3)  # at most four steps, and the sum of each: token, word and state
WORDS = Words(torch.randn(2, 4), torch.tensor([True, True]), torch.tensor([2, 3]), torch.tensor([-1, -1]))


def batch_of(tokens, lengths, slots, kept) -> WordBatch:
    return WordBatch(torch.tensor(tokens), torch.tensor(lengths), torch.tensor(slots), WORDS, torch.tensor(kept))


def test_by_the_formula():
    torch.manual_seed(0)
    module = WordBiLSTM(5, 4, 3).eval()
    vectors = torch.randn(5, 5)
    slots = [[[1, 2], [2, 0], [0, 0]], [[0, 0], [1, 0], [0, 0]]]
    both = module([batch_of([[0, 1, 2], [3, 4, 0]], [3, 2], slots, [0, 1, 2, 3, 4])], vectors)
    for rows, tokens, own in ((both[:3], [0, 1, 2], slots[0]), (both[3:], [3, 4], slots[1][:2])):
        said = module.attention.attend(vectors[tokens].unsqueeze(0), module.words(WORDS), torch.tensor([own]))
        expected, _ = module.lstm(torch.cat((vectors[tokens].unsqueeze(0), said), dim=-1))
        assert_close(rows, expected[0], N_TERMS)


def test_each_direction_reads_to_its_token():
    """The original code reverses the output of its second LSTM, but never its input."""
    module = WordBiLSTM(5, 4, 3).eval()
    vectors = torch.randn(4, 5)
    changed = vectors.clone()
    changed[0] += 1.0
    slots = [[[0]] * 4]
    left, right = (module([batch_of([[0, 1, 2, 3]], [4], slots, [0, 1, 2, 3])], v) for v in (vectors, changed))
    assert moved(left[3, :3], right[3, :3], N_TERMS).any()
    assert_close(left[1:, 3:], right[1:, 3:], N_TERMS)


def test_built_from_plain_settings():
    settings = {"width": 5, "word_width": 4, "hidden_width": 3, "n_tuned": 2, "dropout": 0.1, "empty": "pad"}
    module = build_word_bilstm({"module": settings, "lexicon_width": 4})
    assert (module.lstm.hidden_size, len(module.words.tuned), module.attention.empty) == (3, 2, "pad")
