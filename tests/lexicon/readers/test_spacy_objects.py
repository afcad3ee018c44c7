import numpy as np
import pytest
import spacy
from spacy.kb import InMemoryLookupKB
from spacy.vectors import Vectors

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.readers import read_knowledge_base, read_vocab_vectors


def test_words_that_have_a_vector():
    vocab = spacy.blank("zh").vocab
    for i, word in enumerate(["南京", "长江", " "]):
        vocab.set_vector(word, np.full(4, i, "f4"))
    vocab.strings.add("没有")
    lexicon = Lexicon.from_entries(read_vocab_vectors(vocab))
    assert sorted(lexicon) == ["南京", "长江"] and lexicon.get("长江").vector.tolist() == [1.0] * 4
    assert lexicon.report.source == "nlp.vocab.vectors" and lexicon.report.skipped == {"empty": 1}


def test_no_vectors():
    with pytest.raises(LexiconError, match="has no word vectors"):
        read_vocab_vectors(spacy.blank("zh").vocab)


def test_vectors_that_list_no_words():
    vocab = spacy.blank("en").vocab
    vocab.vectors = Vectors(
        strings=vocab.strings, data=np.ones((8, 3), "f4"), mode="floret", minn=2, maxn=3, hash_count=2, bow="<", eow=">"
    )
    with pytest.raises(LexiconError, match="have the mode 'floret'"):
        read_vocab_vectors(vocab)


def test_vector_of_an_unknown_word():
    vocab = spacy.blank("zh").vocab
    vocab.vectors = Vectors(data=np.ones((1, 3), "f4"), keys=[12345], strings=vocab.strings)
    with pytest.raises(LexiconError, match="the word with key 12345 is missing"):
        list(read_vocab_vectors(vocab))


@pytest.fixture
def kb():
    kb = InMemoryLookupKB(spacy.blank("zh").vocab, entity_vector_length=2)
    kb.set_entities(["Q1", "Q2", "Q3"], [5, 9, 1], [[1, 0], [0, 1], [2, 2]])
    kb.add_alias("南京", ["Q1", "Q2"], [0.25, 0.5])
    kb.add_alias("长江", ["Q3", "Q1"], [0.5, 0.5])
    kb.add_alias("无名", [], [])
    return kb


def test_aliases_with_the_most_probable_entity(kb):
    lexicon = Lexicon.from_entries(read_knowledge_base(kb))
    entries = {entry.word: entry for entry in lexicon.entries()}
    assert "无名" not in entries
    assert entries["南京"].vector.tolist() == [0, 1] and entries["南京"][2:5] == (0.5, (), "Q2")
    assert entries["长江"].vector.tolist() == [1, 0] and entries["长江"].entity_id == "Q1"
    assert lexicon.report.source == "knowledge base"


def test_no_aliases():
    with pytest.raises(LexiconError, match="has no aliases"):
        read_knowledge_base(InMemoryLookupKB(spacy.blank("zh").vocab, entity_vector_length=2))


def test_another_kind_of_knowledge_base():
    with pytest.raises(LexiconError, match="dict cannot list its aliases; expected"):
        read_knowledge_base({})


def test_a_knowledge_base_without_vectors():
    kb = InMemoryLookupKB(spacy.blank("zh").vocab, entity_vector_length=0)
    kb.add_entity("Q1", 1.0, [])
    kb.add_alias("南京", ["Q1"], [1.0])
    lexicon = Lexicon.from_entries(read_knowledge_base(kb))
    assert lexicon.dim == 0 and lexicon.get("南京").entity_id == "Q1"  # ERNIE refuses such a lexicon
