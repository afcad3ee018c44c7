import numpy as np

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon import audit as module
from spacy_lexner.lexicon.audit import audit

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
    """The lexicon with one array changed in its first place."""
    base = lexicon._levels.base
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
        "'南京': what is known about it is not what was stored"
    ]
    assert "'南京': the vector is not finite" in faults(spoil(lexicon(), "table", "vectors", np.nan))
    wrong_content = faults(spoil(lexicon(), "table", "contents", 7))
    assert wrong_content == [
        "'南京': what is known about it is not what was stored",
        "the version is not that of the words",
    ]
    word = sorted(WORDS, key=Lexicon.from_entries([]).hash)[0]
    assert f"{word!r}: the hash is not that of the word" in faults(spoil(lexicon(), "base", "hashes", 1))


def test_a_word_that_is_not_found(lexicon, monkeypatch):
    match = Lexicon.match
    monkeypatch.setattr(Lexicon, "match", lambda self, text: match(self, text, 1, 3))
    assert faults(lexicon) == ["'长江大桥': not found in a text that holds it"]
