"""From Docs to tensors, piece by piece."""

import numpy as np
import spacy
import torch

from spacy_lexner.candidates.batch_words import place_words
from spacy_lexner.candidates.policy import candidate_slots
from spacy_lexner.encoders.lebert.batches import pad_windows
from spacy_lexner.encoders.shared.windows import cut_windows
from spacy_lexner.encoders.shared.wordpieces import SPECIAL_PIECES, load_wordpieces, vocab_settings
from spacy_lexner.encoders.shared.words import WordTable
from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.level import Candidates

NLP = spacy.blank("zh")
CPU = torch.device("cpu")
WORDPIECES = load_wordpieces(vocab_settings([*SPECIAL_PIECES.values(), *"甲乙丙丁"]))
LEXICON = Lexicon.from_entries(
    [LexiconEntry("甲乙", np.array([1, 2], "f4")), LexiconEntry("乙丙"), LexiconEntry("丙丁")]
)
TABLE = WordTable(2, 2, np.zeros(0, "u8"))


def candidates(*spans, lexicon=LEXICON):
    """spans: start, end, word."""
    starts, ends = np.array([span[:2] for span in spans], "i8").reshape(-1, 2).T
    return Candidates(starts, ends, np.array([lexicon.hash(span[2]) for span in spans], "u8")), lexicon


def pad(texts, found, size, stride):
    """The batch of the windows of texts, whose characters are wordpieces, with up to two words on each."""
    docs = [NLP.make_doc(text) for text in texts]
    ids = np.array([WORDPIECES.pieces(character)[0] for character in "".join(texts)])
    words = place_words(docs, found, np.ones(len(ids), "i8"))
    windows = cut_windows(np.array(list(map(len, texts))), size, stride)
    slots = candidate_slots(words.starts, words.ends, len(ids), 2)
    return pad_windows(windows, ids, WORDPIECES, (words, slots, TABLE), CPU)


def test_a_padded_batch():
    found = [candidates((0, 2, "甲乙"), (1, 3, "乙丙")), candidates((0, 2, "丙丁"))]
    batch, pieces = pad(["甲乙丙", "丙丁"], found, 10, 5)
    assert batch.input_ids.tolist() == [[2, 5, 6, 7, 3], [2, 7, 8, 3, 0]]
    assert batch.attention_mask.tolist() == [[True] * 5, [True] * 4 + [False]]
    assert batch.kept.tolist() == [1, 2, 3, 6, 7] and pieces.tolist() == [0, 1, 2, 3, 4]
    assert batch.words.known.tolist().count(True) == 1 and batch.words.lengths.tolist() == [2, 2, 2]
    number = {word: i + 1 for i, word in enumerate(sorted(LEXICON, key=LEXICON.hash))}
    one, two, three = number["甲乙"], number["乙丙"], number["丙丁"]
    none = [0, 0]
    assert batch.slots.tolist() == [
        [none, [one, 0], [one, two], [two, 0], none],
        [none, [three, 0], [three, 0], none, none],
    ]
    assert batch.words.vectors[one - 1].tolist() == [1, 2] and not batch.words.vectors[two - 1].any()


def test_a_word_occurs_once_in_a_batch_and_not_where_it_is_cut():
    """甲乙甲乙甲乙 in windows of 3: the second 甲乙 lies across the border."""
    found = [candidates((0, 2, "甲乙"), (2, 4, "甲乙"), (4, 6, "甲乙"))]
    batch, _ = pad(["甲乙甲乙甲乙"], found, 3, 3)
    assert len(batch.words.known) == 1
    assert batch.slots[:, :, 0].tolist() == [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0]]


def test_words_of_two_lexicons_stay_apart():
    other = Lexicon.from_entries([LexiconEntry("甲乙", np.array([7, 8], "f4"))])
    found = [candidates((0, 2, "甲乙"), lexicon=lexicon) for lexicon in (LEXICON, other, LEXICON)]
    batch, _ = pad(["甲乙"] * 3, found, 5, 5)
    assert batch.words.vectors.tolist() == [[1, 2], [7, 8]]
    assert batch.slots[:, 1, 0].tolist() == [1, 2, 1]


def test_a_batch_without_words():
    batch, _ = pad(["甲"], [candidates()], 5, 5)
    assert batch.words.vectors.shape == (0, 2) and not batch.slots.any() and batch.slots.shape == (1, 3, 2)
