import numpy as np
import spacy
import torch

from spacy_lexner.candidates.lexicon_node import DocCandidates
from spacy_lexner.encoders.shared.word_table import (
    WordTable,
    distinct_words,
    join_words,
    start_from_lexicon,
    words_of_texts,
)
from spacy_lexner.encoders.shared.word_vectors import WordVectors
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher

NLP = spacy.blank("zh")


def lexicon_of(**vectors):
    return Lexicon.from_entries(
        [LexiconEntry(word, None if vector is None else np.array(vector, "f4")) for word, vector in vectors.items()]
    )


ONE = lexicon_of(南京=[1, 2], 北京=[3, 4], 东京=None)
OTHER = lexicon_of(南京=[5, 6])


def found(lexicon, *words):
    """Candidates of a Doc of these words, in this order."""
    lengths = np.array([len(word) for word in words], "i8")
    last = np.cumsum(lengths) - 1
    hashes = np.array([lexicon.hash(word) for word in words], "u8")
    return NLP.make_doc("".join(words)), DocCandidates(last + 1 - lengths, last, hashes, lexicon)


def join(*pairs):
    return join_words([doc for doc, _ in pairs], [candidates for _, candidates in pairs])


def test_words_of_a_batch_stand_behind_each_other():
    joined = join(found(ONE, "南京", "北京"), found(ONE), found(OTHER, "南京"))
    assert joined.first.tolist() == [0, 2, 4]
    assert joined.last.tolist() == [1, 3, 5]
    assert joined.lengths.tolist() == [2, 2, 2]
    assert joined.source.tolist() == [0, 0, 1]
    assert joined.lexicons == [ONE, OTHER]
    numbered = joined.numbered()
    assert (numbered.first.tolist(), numbered.hashes[0], len(numbered.hashes)) == ([0, 0, 2, 4], 0, 4)
    assert join().lexicons == []


def test_each_distinct_word_is_looked_up_once_in_its_lexicon():
    joined = join(found(ONE, "南京", "东京", "南京"), found(OTHER, "南京")).numbered()
    table = WordTable(
        2, 2, np.array([ONE.hash("北京"), ONE.hash("东京")], "u8")[np.argsort([ONE.hash("北京"), ONE.hash("东京")])]
    )
    rows, words = distinct_words(np.array([[1, 2], [3, 0], [4, 4]]), joined, table, torch.device("cpu"))
    assert rows[0, 0] == rows[1, 0] and rows[1, 1] == 0 and rows[2, 0] == rows[2, 1]
    assert len({int(rows[0, 0]), int(rows[0, 1]), int(rows[2, 0])}) == 3 == len(words.known)
    assert words.vectors[rows[0, 0] - 1].tolist() == [1, 2] and words.vectors[rows[2, 0] - 1].tolist() == [5, 6]
    assert words.known.tolist().count(True) == 2 and not words.known[rows[0, 1] - 1]
    assert words.tuned[rows[0, 1] - 1] >= 0 and words.tuned[rows[0, 0] - 1] == -1


def test_fine_tuned_words_start_from_the_lexicon():
    hashes = words_of_texts(Matcher(ONE), ["去南京", "", "东京和南京"])
    assert set(hashes.tolist()) == {ONE.hash("南京"), ONE.hash("东京")}
    assert words_of_texts(Matcher(ONE), []).tolist() == []
    words = WordVectors(2, 2)
    random = words.tuned.detach().clone()
    start_from_lexicon(words, ONE, hashes)
    rows = dict(zip(hashes.tolist(), range(2)))
    assert words.tuned[rows[ONE.hash("南京")]].tolist() == [1, 2]
    assert torch.equal(words.tuned[rows[ONE.hash("东京")]], random[rows[ONE.hash("东京")]])
    table = WordTable.of(words, 2)
    assert table.tuned_hashes.tolist() == hashes.tolist()
