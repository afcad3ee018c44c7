import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon import trie as trie_module
from spacy_lexner.lexicon.normalization import to_codes
from spacy_lexner.lexicon.strings import to_offsets
from spacy_lexner.lexicon.trie import MULTIPLIER, Trie, build_trie, checked

ALPHABET = "ab甲乙\U00020bb7\U0010ffff"
WORDS = st.lists(st.text(ALPHABET, min_size=1, max_size=7), unique=True, max_size=40)


def build(words):
    lengths = np.array([len(word) for word in words], "i8")
    return build_trie(to_codes("".join(words)), to_offsets(lengths), np.arange(len(words), dtype="i4"))


def spell(found, words, text):
    starts, ends, numbers = (array.tolist() for array in found)
    assert [text[start:end] for start, end in zip(starts, ends)] == [words[number] for number in numbers]
    return list(zip(starts, ends))


@settings(max_examples=300)
@given(WORDS, st.text(ALPHABET + "c", max_size=60), st.integers(1, 4), st.integers(1, 8))
def test_finds_what_brute_force_finds(find_all, words, text, min_length, max_length):
    found = build(words).match(to_codes(text), min_length, max_length)
    fitting = [word for word in words if min_length <= len(word) <= max_length]
    assert spell(found, words, text) == [(start, end) for _, start, end in find_all(fitting, [text])]


@settings(max_examples=50)
@given(WORDS, st.text(ALPHABET, min_size=1, max_size=60))
def test_words_across_the_borders_of_chunks(find_all, words, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trie_module, "CHUNK", 3)
        found = build(words).match(to_codes(text))
    assert spell(found, words, text) == [(start, end) for _, start, end in find_all(words, [text])]


def test_text_of_many_chunks():
    text = "ab" * 100_000
    starts, ends, _ = build(["ab", "ba", "a", "abab"]).match(to_codes(text))
    assert len(starts) == 100_000 + 99_999 + 100_000 + 99_999
    assert (np.diff(starts * 8 + ends - starts) > 0).all()


def test_a_family_of_prefixes():
    words = ["a" * length for length in range(1, 101)]
    starts, _, _ = build(words).match(to_codes("a" * 300))
    assert len(starts) == sum(min(100, 300 - start) for start in range(300))


def test_a_long_word():
    word = "长" * 5000
    assert spell(build([word]).match(to_codes("短" + word)), [word], "短" + word) == [(1, 5001)]


@pytest.mark.parametrize("words,text", [([], ""), ([], "甲"), (["甲"], ""), (["甲"], "\0"), (["甲乙"], "甲")])
def test_nothing_to_find(words, text):
    assert [len(column) for column in build(words).match(to_codes(text))] == [0, 0, 0]


def test_gap_is_no_key():
    node = pow(MULTIPLIER, -1, 2**64) * (2**64 - 1) % 2**64 >> 21
    assert node > 2**31  # numbers of nodes are smaller


@settings(max_examples=300)
@given(st.data())
def test_damaged_arrays_are_refused_or_harmless(data):
    trie = build(["ab", "abc", "b", "甲乙丙", "甲"])
    arrays = {name: array.copy() for name, array in trie._asdict().items()}
    for _ in range(data.draw(st.integers(1, 4))):
        array = arrays[data.draw(st.sampled_from(sorted(arrays)))].reshape(-1).view("u1")
        array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.integers(0, 255))
    try:
        damaged = checked(Trie(**arrays))
    except LexiconError:
        return
    text = to_codes("abcab甲乙丙丁b" * 20)
    starts, ends, _ = damaged.match(text)
    assert starts.min(initial=0) >= 0
    assert (starts < len(text)).all() and (ends - starts <= len(trie.levels) + 1).all()


@pytest.mark.parametrize(
    "level", [(-1, 4, 0), (0, 0, 0), (0, 10**6, 0), (3, 8, 0), (0, 2**62, 0), (0, 4, -1), (0, 4, 2**40)]
)
def test_levels_outside_the_tables_are_refused(level):
    trie = build(["ab", "abc"])
    levels = trie.levels.copy()
    levels[1] = level
    with pytest.raises(LexiconError, match="damaged"):
        checked(trie._replace(levels=levels))
