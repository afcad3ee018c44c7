import numpy as np
import pytest
import torch

from spacy_lexner.layers.word_table import WordTable, start_from_lexicon, words_of_texts
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.modules.word_vectors import WordVectors

VECTOR = np.array([1, 2], "f4")
LEXICON = Lexicon.from_entries([LexiconEntry("甲乙", VECTOR), LexiconEntry("乙丙"), LexiconEntry("丙丁")])
NO_HASHES = np.zeros(0, "u8")


def hashes_of(*words):
    return np.array(sorted(LEXICON.hash(word) for word in words), "u8")


def test_look_up():
    hashes = hashes_of("甲乙", "丙丁")
    table = WordTable(2, 2, hashes)
    asked = np.array([LEXICON.hash("丙丁"), LEXICON.hash("乙丙"), LEXICON.hash("甲乙"), 2**64 - 1], "u8")
    vectors, known, tuned = table.look_up(LEXICON, asked)
    assert vectors.tolist() == [[0, 0], [0, 0], [1, 2], [0, 0]] and known.tolist() == [False, False, True, False]
    assert tuned.tolist() == [hashes.tolist().index(asked[0]), -1, hashes.tolist().index(asked[2]), -1]
    vectors, known, tuned = WordTable(5, 0, NO_HASHES).look_up(LEXICON, asked)
    assert vectors.shape == (4, 5) and not known.any() and tuned.tolist() == [-1] * 4


def test_check():
    WordTable(2, 2, NO_HASHES).check(LEXICON)
    WordTable(2, 2, NO_HASHES).check(Lexicon.from_entries([]))
    with pytest.raises(ValueError, match="vectors of 2 dimensions, but the model was trained with 3"):
        WordTable(3, 3, NO_HASHES).check(LEXICON)


def test_words_of_texts():
    texts = ["甲乙丙", "", "甲乙"] * 700  # more than are matched at once
    assert words_of_texts(Matcher(LEXICON), texts).tolist() == hashes_of("甲乙", "乙丙").tolist()
    assert words_of_texts(Matcher(LEXICON), []).shape == (0,)


def test_fine_tuned_words_start_from_the_lexicon():
    vectors, hashes = WordVectors(2, n_tuned=2), hashes_of("甲乙", "丙丁")
    before = vectors.tuned.detach().clone()
    start_from_lexicon(vectors, LEXICON, hashes)
    row = hashes.tolist().index(LEXICON.hash("甲乙"))
    torch.testing.assert_close(vectors.tuned[row], torch.tensor([1.0, 2.0]))
    torch.testing.assert_close(vectors.tuned[1 - row], before[1 - row])
    assert WordTable.of(vectors, 2).tuned_hashes.tolist() == hashes.tolist()
