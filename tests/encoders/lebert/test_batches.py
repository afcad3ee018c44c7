"""From Docs to tensors, piece by piece."""

import numpy as np
import spacy
import torch
from spacy.tokens import Doc

from spacy_lexner.candidates.lexicon_node import DocCandidates
from spacy_lexner.encoders.lebert.batches import PieceWords, pad_windows, place_words
from spacy_lexner.encoders.shared.windows import cut_windows
from spacy_lexner.encoders.shared.word_table import WordTable
from spacy_lexner.encoders.shared.wordpieces import SPECIAL_PIECES, load_wordpieces, vocab_settings
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon

NLP = spacy.blank("zh")
CPU = torch.device("cpu")
WORDPIECES = load_wordpieces(vocab_settings([*SPECIAL_PIECES.values(), *"甲乙丙丁"]))
LEXICON = Lexicon.from_entries(
    [LexiconEntry("甲乙", np.array([1, 2], "f4")), LexiconEntry("乙丙"), LexiconEntry("丙丁")]
)
OPTIONS = {"max_words": 2, "policy": "start", "single_chars": "keep"}
NO_HASHES = np.zeros(0, "u8")


def candidates(*spans, lexicon=LEXICON):
    """spans: first token, last token, word."""
    first, last = np.array([span[:2] for span in spans], "i8").reshape(-1, 2).T
    return DocCandidates(first, last, np.array([lexicon.hash(span[2]) for span in spans], "u8"), lexicon)


def test_words_on_characters():
    docs = [NLP.make_doc("甲乙丙"), NLP.make_doc(""), NLP.make_doc("丙丁")]
    found = [candidates((0, 1, "甲乙"), (1, 2, "乙丙")), candidates(), candidates((0, 1, "丙丁"))]
    words = place_words(docs, found, np.ones(5, "i8"), **OPTIONS)
    assert words.slots.tolist() == [[1, 0], [1, 2], [2, 0], [3, 0], [3, 0]]
    assert words.first.tolist() == [0, 0, 1, 3] and words.last.tolist() == [0, 1, 2, 4]
    assert words.lengths.tolist() == [0, 2, 2, 2]
    assert words.lexicons == [LEXICON] and words.source.tolist() == [0, 0, 0, 0]


def test_words_on_tokens_of_several_pieces_and_characters():
    doc = Doc(NLP.vocab, words=["甲乙", "丙", "丁"], spaces=[False] * 3)
    words = place_words([doc], [candidates((0, 1, "甲乙丙"), (2, 2, "丁"))], np.array([2, 1, 3]), **OPTIONS)
    assert words.slots.tolist() == [[1, 0]] * 3 + [[2, 0]] * 3
    assert words.first.tolist() == [0, 0, 3] and words.last.tolist() == [0, 2, 5]
    assert words.lengths.tolist() == [0, 3, 1]


def pad(words: PieceWords, ids, lengths, size, stride, table):
    windows = cut_windows(np.array(lengths), size, stride)
    return pad_windows(windows, np.array(ids), WORDPIECES, words, table, CPU)


def test_a_padded_batch():
    docs = [NLP.make_doc("甲乙丙"), NLP.make_doc("丙丁")]
    found = [candidates((0, 1, "甲乙"), (1, 2, "乙丙")), candidates((0, 1, "丙丁"))]
    words = place_words(docs, found, np.ones(5, "i8"), **OPTIONS)
    batch, pieces = pad(words, [5, 6, 7, 7, 8], [3, 2], 10, 5, WordTable(2, 2, NO_HASHES))
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
    found = [candidates((0, 1, "甲乙"), (2, 3, "甲乙"), (4, 5, "甲乙"))]
    words = place_words([NLP.make_doc("甲乙甲乙甲乙")], found, np.ones(6, "i8"), **OPTIONS)
    batch, _ = pad(words, [5, 6] * 3, [6], 3, 3, WordTable(2, 2, NO_HASHES))
    assert len(batch.words.known) == 1
    assert batch.slots[:, :, 0].tolist() == [[0, 1, 1, 0, 0], [0, 0, 1, 1, 0]]


def test_words_of_two_lexicons_stay_apart():
    other = Lexicon.from_entries([LexiconEntry("甲乙", np.array([7, 8], "f4"))])
    docs = [NLP.make_doc("甲乙"), NLP.make_doc("甲乙"), NLP.make_doc("甲乙")]
    found = [candidates((0, 1, "甲乙"), lexicon=lexicon) for lexicon in (LEXICON, other, LEXICON)]
    words = place_words(docs, found, np.ones(6, "i8"), **OPTIONS)
    batch, _ = pad(words, [5, 6] * 3, [2, 2, 2], 5, 5, WordTable(2, 2, NO_HASHES))
    assert batch.words.vectors.tolist() == [[1, 2], [7, 8]]
    assert batch.slots[:, 1, 0].tolist() == [1, 2, 1]


def test_a_batch_without_words():
    words = place_words([NLP.make_doc("甲")], [candidates()], np.ones(1, "i8"), **OPTIONS)
    batch, _ = pad(words, [5], [1], 5, 5, WordTable(2, 2, NO_HASHES))
    assert batch.words.vectors.shape == (0, 2) and not batch.slots.any() and batch.slots.shape == (1, 3, 2)
