import numpy as np
import pytest
import spacy
from spacy.vectors import Vectors

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.readers import read_vocab_vectors


def test_words_that_have_a_vector():
    vocab = spacy.blank("zh").vocab
    for i, word in enumerate(["南京", "长江", " "]):
        vocab.set_vector(word, np.full(4, i, "f4"))
    vocab.strings.add("没有")
    lexicon = Lexicon.from_entries(read_vocab_vectors(vocab))
    assert sorted(lexicon) == ["南京", "长江"] and lexicon.get("长江").vector.tolist() == [1.0] * 4
    assert lexicon.report.source == "nlp.vocab.vectors" and lexicon.report.skipped == {"white_space": 1}


def test_no_vectors():
    with pytest.raises(LexiconError, match="has no word vectors"):
        read_vocab_vectors(spacy.blank("zh").vocab)


def test_vectors_that_list_no_words():
    vocab = spacy.blank("en").vocab
    vocab.vectors = Vectors(
        strings=vocab.strings, data=np.ones((8, 3), "f4"), mode="floret", minn=2, maxn=3, hash_count=2, bow="<", eow=">"
    )
    with pytest.raises(LexiconError, match="of the kind 'floret'"):
        read_vocab_vectors(vocab)


def test_vector_of_an_unknown_word():
    vocab = spacy.blank("zh").vocab
    vocab.vectors = Vectors(data=np.ones((1, 3), "f4"), keys=[12345], strings=vocab.strings)
    with pytest.raises(LexiconError, match="the vector of key 12345 belongs to a word"):
        list(read_vocab_vectors(vocab))
