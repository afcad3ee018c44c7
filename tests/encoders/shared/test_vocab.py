import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.shared.character_options import CharacterOptions
from spacy_lexner.encoders.shared.vocab import END, build_vocab, check_tables, load_vocab
from spacy_lexner.lexicon.normalization import Normalization, to_codes

PADDING, UNKNOWN = 0, 1


def encode(vocab, *texts):
    codes = to_codes("".join(texts))
    return vocab.encode(codes, np.cumsum([len(text) for text in texts], dtype="i8"))


def names(settings, kind):
    size = 1 if kind == "characters" else 2
    joined = "".join(settings[kind])
    return [None, None, *(joined[i : i + size] for i in range(0, len(joined), size))]


@given(st.lists(st.text("甲乙丙丁12 𠮷", max_size=8), min_size=1), st.lists(st.text("甲乙戊13𠮷", max_size=8)))
def test_every_character_and_bigram_has_its_number(training, texts):
    settings = build_vocab(training)
    vocab = load_vocab(settings)
    characters, bigrams = encode(vocab, *texts)
    seen = {text.replace(" ", "") for text in training}
    known = {character for text in seen for character in text}
    known_bigrams = {pair for text in seen for pair in map("".join, zip(text, text[1:] + END))}
    expected = [(c, c + following) for text in texts for c, following in zip(text, text[1:] + END)]
    for number, bigram, (character, pair) in zip(characters.tolist(), bigrams.tolist(), expected):
        assert names(settings, "characters")[number] == (character if character in known else None)
        assert names(settings, "bigrams")[bigram] == (pair if pair in known_bigrams else None)
    assert not len(characters) or min(characters.min(), bigrams.min()) >= UNKNOWN


def test_rare_ones_are_unknown():
    vocab = load_vocab(build_vocab(["甲乙甲", "甲乙"], CharacterOptions(min_count=3, bigram_min_count=2)))
    characters, bigrams = encode(vocab, "甲乙")
    assert characters.tolist() == [2, UNKNOWN]
    assert bigrams.tolist() == [2, UNKNOWN]  # "乙" ends one text and goes on in the other
    assert (vocab.n_characters, vocab.n_bigrams) == (1, 1)


def test_fixed_ones_come_last():
    settings = build_vocab(["甲乙"], fixed_characters=["丙", "甲"], fixed_bigrams=["丙丁", "甲乙", "丙" + END])
    vocab = load_vocab(settings)
    assert settings["characters"] == ["乙甲", "丙"] or settings["characters"] == ["甲乙", "丙"]
    assert (vocab.n_characters, vocab.n_fixed_characters, vocab.n_bigrams, vocab.n_fixed_bigrams) == (2, 1, 2, 2)
    characters, bigrams = encode(vocab, "丙丁", "丙")
    assert characters.tolist() == [4, UNKNOWN, 4]
    assert bigrams.tolist() == [4, UNKNOWN, 5]
    assert vocab.rows("bigrams", ["丙丁", "甲甲"]).tolist() == [4, UNKNOWN]
    assert vocab.rows("characters", []).tolist() == []


def test_without_bigrams():
    vocab = load_vocab(build_vocab(["甲"], CharacterOptions(bigrams=False)))
    assert encode(vocab, "甲")[1] is None
    assert (vocab.n_bigrams, vocab.n_fixed_bigrams) == (0, 0)


@pytest.mark.parametrize("numbers", ["characters", "all"])
def test_digits_become_zero(numbers):
    # The original turned "1年" into "01", and then into "00".
    settings = build_vocab(["1年２٣"], CharacterOptions(numbers=numbers))
    vocab = load_vocab(settings)
    assert settings["characters"][0] == "0年"
    characters, bigrams = encode(vocab, "9年12")
    assert characters.tolist() == [2, 3, 2, 2]
    if numbers == "all":
        assert settings["bigrams"][0] == "00" + "0年" + "0" + END + "年0"
        assert [names(settings, "bigrams")[i] for i in bigrams] == ["0年", "年0", "00", "0" + END]
    else:
        assert bigrams.tolist() == [UNKNOWN] * 4


def test_settings_are_plain_and_the_lookup_is_kept():
    settings = build_vocab(["𠮷野家", "", "a b"])
    assert json.loads(json.dumps(settings)) == settings
    assert load_vocab(settings) is load_vocab(json.loads(json.dumps(settings)))
    assert "ab" in settings["bigrams"][0]  # a space between tokens is no character


def test_no_texts():
    vocab = load_vocab(build_vocab([]))
    assert encode(vocab, "甲乙")[0].tolist() == [UNKNOWN, UNKNOWN]
    characters, bigrams = encode(vocab, "", "")
    assert len(characters) == len(bigrams) == 0


@given(st.lists(st.text("臺台灣湾A中", max_size=6), min_size=1), st.lists(st.text("臺台灣湾Aa丙", max_size=6)))
def test_reading_normalised_is_reading_normalised_texts(training, texts):
    normalization = Normalization(case=True, script="simplified")
    vocab = load_vocab(json.loads(json.dumps(build_vocab(training, normalization=normalization))))
    plain = load_vocab(build_vocab(list(map(normalization, training))))
    for read, expected in zip(encode(vocab, *texts), encode(plain, *map(normalization, texts))):
        assert read.tolist() == expected.tolist()


def test_tables_have_a_row_for_each_character_and_bigram():
    vocab = load_vocab(build_vocab(["南京市"]))
    check_tables(vocab, {"n_characters": 5, "n_bigrams": 5})
    check_tables(vocab, {"n_characters": 4, "n_fixed_characters": 1})
    for tables in ({"n_characters": 4}, {"n_characters": 5, "n_bigrams": 4}):
        with pytest.raises(ValueError, match=r"the last .* is 4, but there are 4 rows"):
            check_tables(vocab, tables)


def test_a_vocabulary_that_its_model_cannot_read():
    settings = build_vocab(["南京"], CharacterOptions(bigrams=False))
    check_tables(load_vocab(settings), {"n_characters": 4})
    with pytest.raises(ValueError, match="there are 5 rows for bigrams, and none in the vocabulary"):
        check_tables(load_vocab(settings), {"n_characters": 4, "n_bigrams": 5})
    with pytest.raises(ValueError, match="numbers is 'some'; expected one of keep, characters, all"):
        check_tables(load_vocab({**settings, "numbers": "some"}), {"n_characters": 4})
