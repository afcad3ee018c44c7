import torch

from spacy_lexner.encoders.shared.word_vectors import Words, WordVectors


def make_words(known, lengths, tuned, width=4):
    vectors = torch.arange(len(known) * width, dtype=torch.float32).view(-1, width)
    return Words(vectors, torch.tensor(known), torch.tensor(lengths), torch.tensor(tuned))


def test_vectors_of_the_lexicon_pass_unchanged_and_get_no_gradient():
    vectors = WordVectors(4)
    words = make_words([True, True], [2, 3], [-1, -1])
    output = vectors(words)
    torch.testing.assert_close(output[1:], words.vectors)
    torch.testing.assert_close(output[:1], vectors.padding)
    output.sum().backward()
    assert vectors.by_length.grad is None or not vectors.by_length.grad.any()


def test_words_without_vector_share_one_by_length():
    vectors = WordVectors(4)
    output = vectors(make_words([False] * 7, [2, 2, 6, 1, 7, 100, 3], [-1] * 7))[1:]
    torch.testing.assert_close(output[0], output[1])
    torch.testing.assert_close(output[0], vectors.by_length[1])
    torch.testing.assert_close(output[2], vectors.by_length[5])
    torch.testing.assert_close(output[3:6], vectors.by_length[:1].expand(3, 4))
    assert not torch.equal(output[6], output[0])


def test_the_fine_tuned_table_comes_first_and_learns():
    vectors = WordVectors(4, n_tuned=3)
    output = vectors(make_words([True, False, True], [2, 3, 2], [2, 0, -1]))
    torch.testing.assert_close(output[1:3], vectors.tuned[[2, 0]])
    torch.testing.assert_close(output[3], torch.arange(8.0, 12.0))
    output.sum().backward()
    assert vectors.tuned.grad is not None
    assert vectors.tuned.grad.any(dim=1).tolist() == [True, False, True]


def test_no_words_at_all():
    empty = Words(torch.zeros(0, 4), torch.zeros(0, dtype=torch.bool), *[torch.zeros(0, dtype=torch.int64)] * 2)
    assert WordVectors(4, n_tuned=1)(empty).shape == (1, 4)
