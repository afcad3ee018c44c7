import numpy as np
import pytest
import torch

from spacy_lexner.candidates.batch_words import BatchWords
from spacy_lexner.encoders.shared import words as module
from spacy_lexner.encoders.shared.words import (
    Words,
    WordTable,
    WordVectors,
    check_words,
    match_in_parts,
    number_words,
    words_of_texts,
)
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher


def lexicon_of(**vectors):
    return Lexicon.from_entries(
        [LexiconEntry(word, None if vector is None else np.array(vector, "f4")) for word, vector in vectors.items()]
    )


ONE = lexicon_of(南京=[1, 2], 北京=[3, 4], 东京=None)
OTHER = lexicon_of(南京=[5, 6])
CPU = torch.device("cpu")


def batch_words(*words):
    """words: their text and lexicon, one after the other on characters."""
    lengths = np.array([len(text) for text, _ in words])
    ends = np.cumsum(lengths)
    lexicons = list({id(lexicon): lexicon for _, lexicon in words}.values())
    hashes = np.array([lexicon.hash(text) for text, lexicon in words], "u8")
    sources = np.array([lexicons.index(lexicon) for _, lexicon in words])
    return BatchWords(ends - lengths, ends, hashes, lengths, sources, lexicons)


def test_each_distinct_word_is_looked_up_once_in_its_lexicon():
    words = batch_words(("南京", ONE), ("东京", ONE), ("南京", ONE), ("南京", OTHER))
    table = WordTable(2, 2, np.sort(np.array([ONE.hash("北京"), ONE.hash("东京")], "u8")))
    rows, distinct = number_words(np.array([[0, 1], [2, -1], [3, 3]]), words, table, CPU)
    assert rows[0, 0] == rows[1, 0] and rows[1, 1] == 0 and rows[2, 0] == rows[2, 1]
    assert len({int(rows[0, 0]), int(rows[0, 1]), int(rows[2, 0])}) == 3 == len(distinct.known)
    assert distinct.vectors[rows[0, 0] - 1].tolist() == [1, 2] and distinct.vectors[rows[2, 0] - 1].tolist() == [5, 6]
    assert distinct.known.tolist().count(True) == 2 and not distinct.known[rows[0, 1] - 1]
    assert distinct.tuned[rows[0, 1] - 1] >= 0 and distinct.tuned[rows[0, 0] - 1] == -1
    assert distinct.lengths.tolist() == [2, 2, 2]


def test_no_words():
    words = batch_words(("南京", ONE)).take(np.zeros(1, bool))
    rows, distinct = number_words(np.full((2, 3), -1), words, WordTable(2, 2, np.zeros(0, "u8")), CPU)
    assert not rows.any() and rows.shape == (2, 3) and distinct.vectors.shape == (0, 2)


def test_texts_are_matched_in_parts(monkeypatch):
    monkeypatch.setattr(module, "MATCHED_AT_ONCE", 2)
    parts = match_in_parts(Matcher(ONE), ["去南京", "", "东京和南京"])
    shown = [(list(part), words.starts.tolist(), borders.tolist()) for part, words, borders in parts]
    assert shown == [(["去南京", ""], [1], [0, 1, 1]), (["东京和南京"], [0, 3], [0, 2])]


def test_fine_tuned_words_start_from_the_lexicon():
    hashes = words_of_texts(Matcher(ONE), ["去南京", "", "东京和南京"])
    assert set(hashes.tolist()) == {ONE.hash("南京"), ONE.hash("东京")}
    assert words_of_texts(Matcher(ONE), []).tolist() == []
    words = WordVectors(2, 2)
    random = words.tuned.detach().clone()
    words.start_from(ONE, hashes)
    rows = dict(zip(hashes.tolist(), range(2)))
    assert words.tuned[rows[ONE.hash("南京")]].tolist() == [1, 2]
    assert torch.equal(words.tuned[rows[ONE.hash("东京")]], random[rows[ONE.hash("东京")]])
    table = WordTable.of(words, {"lexicon_width": 2})
    assert table.tuned_hashes.tolist() == hashes.tolist()


def make_words(known, lengths, tuned, width=4):
    vectors = torch.arange(len(known) * width, dtype=torch.float32).view(-1, width)
    return Words(vectors, torch.tensor(known), torch.tensor(lengths), torch.tensor(tuned))


def test_vectors_of_the_lexicon_pass_unchanged_and_get_no_gradient():
    vectors = WordVectors(4)
    words = make_words([True, True], [2, 3], [-1, -1])
    output = vectors(words)
    assert torch.equal(output[1:], words.vectors)
    assert torch.equal(output[:1], vectors.padding)
    output.sum().backward()
    assert vectors.by_length.grad is None or not vectors.by_length.grad.any()


def test_words_without_vector_share_one_by_length():
    vectors = WordVectors(4)
    output = vectors(make_words([False] * 7, [2, 2, 6, 1, 7, 100, 3], [-1] * 7))[1:]
    assert torch.equal(output[0], output[1])
    assert torch.equal(output[0], vectors.by_length[1])
    assert torch.equal(output[2], vectors.by_length[5])
    assert torch.equal(output[3:6], vectors.by_length[:1].expand(3, 4))
    assert not torch.equal(output[6], output[0])


def test_the_fine_tuned_table_comes_first_and_learns():
    vectors = WordVectors(4, n_tuned=3)
    output = vectors(make_words([True, False, True], [2, 3, 2], [2, 0, -1]))
    assert torch.equal(output[1:3], vectors.tuned[[2, 0]])
    assert torch.equal(output[3], torch.arange(8.0, 12.0))
    output.sum().backward()
    assert vectors.tuned.grad is not None
    assert vectors.tuned.grad.any(dim=1).tolist() == [True, False, True]


def test_no_words_at_all():
    empty = Words(torch.zeros(0, 4), torch.zeros(0, dtype=torch.bool), *[torch.zeros(0, dtype=torch.int64)] * 2)
    assert WordVectors(4, n_tuned=1)(empty).shape == (1, 4)


def test_settings_with_which_no_word_can_be_looked_up():
    check_words({})
    check_words({"lexicon_width": 0, "labels": ["GPE"]})
    for name, value in [("lexicon_width", v) for v in ("8", 8.0, True, -1, 2**40, None)] + [("labels", "GPE")]:
        with pytest.raises(ValueError, match="expected"):
            check_words({name: value})
    with pytest.raises(ValueError, match="the labels of words are"):
        check_words({"labels": [["GPE"]]})
