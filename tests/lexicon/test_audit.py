import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon import audit as module
from spacy_lexner.lexicon.audit import audit, compare_with_pygtrie, joined_words

WORDS = ["南京", "南京市", "长江", "长江大桥"]


def faults(lexicon):
    return [fault for batch in audit(lexicon) for fault in batch]


def test_sound(lexicon, monkeypatch):
    assert not faults(lexicon)
    assert not faults(lexicon.with_words(["紫峰大厦"]).without_words(["南京"]))
    assert not faults(Lexicon.from_entries([]))
    monkeypatch.setattr(module, "BATCH", 3)
    assert not faults(lexicon)
    assert len(list(audit(lexicon))) == 4


def spoil(lexicon, part, name, value):
    """The lexicon with the first value of one array changed."""
    base = lexicon.base
    target = base if part == "base" else getattr(base, part)
    array = getattr(target, name)
    array = array.copy()
    array[0] = value
    if isinstance(target, tuple):
        object.__setattr__(base, part, target._replace(**{name: array}))
    else:
        object.__setattr__(target, name, array)
    return lexicon


def test_faults():
    def lexicon():
        return Lexicon.from_entries([LexiconEntry(word, np.ones(2, "f4"), 2.0) for word in WORDS])

    assert faults(spoil(lexicon(), "table", "weights", 3.0)) == [
        "'南京': its weight, label, entity id, rules or vector differ from what was stored"
    ]
    assert "'南京': its vector is not finite" in faults(spoil(lexicon(), "table", "vectors", np.nan))
    wrong_content = faults(spoil(lexicon(), "table", "contents", 7))
    assert wrong_content == [
        "'南京': its weight, label, entity id, rules or vector differ from what was stored",
        "the version does not match the words",
    ]
    word = sorted(WORDS, key=Lexicon.from_entries([]).hash)[0]
    assert f"{word!r}: its hash is wrong" in faults(spoil(lexicon(), "base", "hashes", 1))


def test_a_word_that_is_not_found(lexicon, monkeypatch):
    match = Lexicon.match
    monkeypatch.setattr(Lexicon, "match", lambda self, text: match(self, text, 1, 3))
    assert faults(lexicon) == ["'长江大桥': not found in a text that contains it"]


@given(words=st.sets(st.text("甲乙Ａ", min_size=1, max_size=3)), texts=st.lists(st.text("甲乙aＡ ", max_size=20)))
def test_pygtrie_finds_the_same_words(words, texts):
    normalization = Normalization(True, True)
    lexicon = Lexicon.from_entries(map(LexiconEntry, words), normalization=normalization)
    comparisons = list(compare_with_pygtrie(lexicon, texts))
    assert [found for found, _ in comparisons] == [len(lexicon.match(text).starts) for text in texts]
    assert not any(differences for _, differences in comparisons)


def test_differences_from_pygtrie_are_named(lexicon, monkeypatch):
    match = Lexicon.match
    monkeypatch.setattr(Lexicon, "match", lambda self, text: match(self, text, 2, 3))
    [(n_found, differences)] = compare_with_pygtrie(lexicon, ["南京长江大桥"])
    assert n_found == 4 and differences == [
        "text 1, 0 to 1: '南', by pygtrie only, in '南京长江大桥'",
        "text 1, 1 to 2: '京', by pygtrie only, in '南京长江大桥'",
        "text 1, 2 to 6: '长江大桥', by pygtrie only, in '南京长江大桥'",
    ]


def test_joined_words(lexicon, monkeypatch):
    monkeypatch.setattr(module, "N_JOINED", 4)
    texts = list(joined_words(lexicon))
    assert len(texts) == 3 and "".join(texts) == "".join(lexicon)
    assert list(joined_words(Lexicon.from_entries([]))) == []
