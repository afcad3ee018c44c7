from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon.hashing import hash_word


def test_hash_is_the_same_on_every_machine():
    # Models and saved Docs hold these numbers: they must never change.
    assert hash_word("长江大桥") == 0xBC769E5F49F5A6FC
    assert hash_word("a") == 0x2F42665B399EF840


@given(st.text())
def test_hash_is_blake2b_of_the_utf8(word):
    expected = blake2b(word.encode("utf8"), digest_size=8).digest()
    assert hash_word(word).to_bytes(8, "little") == expected


def test_lone_surrogate_does_not_crash():
    assert hash_word("\ud800") != hash_word("\ud801")
