import json
import pickle
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.normalization import EDGES, FULL_WIDTH, Normalization, read_table, to_codes

SCRIPTS = (None, "simplified")
EVERY = [Normalization(case, width, script) for case in (False, True) for width in (False, True) for script in SCRIPTS]
TABLE = read_table("simplified")
CHANGES = dict(zip(TABLE[::2], TABLE[1::2]))
CHANGING = st.sampled_from("裏裡臺台乾干著着薴苧衞Ａａ＂　￥AÉıİẞ" + TABLE)


def plainly(normalization, character):
    """One character, by the definition."""
    code = ord(character)
    if normalization.width and (code in FULL_WIDTH or code == 0x3000):
        plain = unicodedata.normalize("NFKC", character)
        character = plain if len(plain) == 1 else character
    pairs = normalization.characters
    if character in pairs[::2]:
        character = pairs[2 * pairs[::2].index(character) + 1]
    lower = character.lower()
    return lower if normalization.case and len(lower) == 1 else character


@pytest.mark.parametrize("normalization", EVERY, ids=repr)
@given(st.text(CHANGING | st.characters(codec=None)))
def test_length_is_kept_and_both_ways_agree(normalization, text):
    normalized = normalization(text)
    assert len(normalized) == len(text)
    assert to_codes(normalized).tolist() == normalization.codes(to_codes(text)).tolist()
    assert normalization(normalized) == normalized
    assert normalized == "".join(plainly(normalization, character) for character in text)


@pytest.mark.parametrize(
    "case,width,text,expected",
    [
        (True, False, "Ünï ΑΒΣ ДЖ Ａ", "ünï αβσ дж ａ"),
        (False, True, "ＡＢＣ１２３（）　￥", "ABC123() ¥"),
        (True, True, "ＡＢ Cd", "ab cd"),
        (True, True, "İ", "İ"),  # the lower-case form has two characters
        (False, True, "￣", "￣"),  # so has the ordinary form
        (True, True, "\U0001e900\U00010400𠮷", "\U0001e922\U00010428𠮷"),
        (False, False, "ＡB　", "ＡB　"),
    ],
)
def test_mapping(case, width, text, expected):
    assert Normalization(case, width)(text) == expected


def test_the_edges_of_a_word_are_trimmed():
    assert not [char for char in map(chr, range(sys.maxunicode + 1)) if char.isspace() and char not in EDGES]
    assert Normalization().word("\ufeff \u200b富士 施\u200d乐\u200e\u3000") == "富士 施\u200d乐"


def test_no_cased_character_lies_beyond_the_table():
    mapped = [code for code in range(sys.maxunicode + 1) if len(chr(code).lower()) == 1 != chr(code).islower()]
    lower = np.array([ord(chr(code).lower()) for code in mapped], "u4")
    assert Normalization(case=True).codes(np.array(mapped, "u4")).tolist() == lower.tolist()


def test_lone_surrogate_and_any_code_pass():
    assert Normalization(True, True)("\ud800A") == "\ud800a"
    assert Normalization(True, True).codes(np.array([0, 0x10FFFF, 2**32 - 1], "u4")).tolist() == [
        0,
        0x10FFFF,
        2**32 - 1,
    ]


def test_the_table_of_a_script_travels_with_its_settings(monkeypatch):
    normalization = Normalization(width=True, script="simplified")
    settings = json.loads(json.dumps(normalization.settings()))
    monkeypatch.setitem(sys.modules, "opencc", None)
    read_table.cache_clear()
    for again in (Normalization(**settings), pickle.loads(pickle.dumps(normalization))):
        assert again == normalization and hash(again) == hash(normalization)
        assert again("臺灣　裏") == "台湾 里"
    with pytest.raises(LexiconError, match="zh"):
        Normalization(script="simplified")


def test_without_a_script_the_settings_are_as_they_always_were():
    assert Normalization(case=True).settings() == {"case": True, "width": False}
    assert not any(Normalization())


@pytest.mark.parametrize("script, characters", [(None, "臺台"), ("simplified", "臺台灣")])
def test_a_table_that_cannot_be_one_is_refused(script, characters):
    with pytest.raises(LexiconError, match="pairs of characters"):
        Normalization(script=script, characters=characters)


def test_repr_leaves_the_table_out():
    normalization = Normalization(width=True, script="x", characters="臺台")
    assert repr(normalization) == "Normalization(width, x script (1 characters))"
    assert str(Normalization()) == "nothing"


@pytest.mark.parametrize(
    "written, simplified",
    [
        ("裏裡里", "里里里"),
        ("臺台颱", "台台台"),
        ("為爲说説說", "为为说说说"),
        ("峯羣牀啟啓", "峰群床启启"),
        ("衞敍粧", "卫叙妆"),  # Hong Kong
        ("苧薴苎", "苎苎苎"),  # a chain
        ("乾幹干後后發髮发", "干干干后后发发发"),  # several become one
        ("著着什么幺瞭", "著着什么幺瞭"),  # what simplified text distinguishes stays distinct
        ("\uf9fe\U0002f8a6", "茶慈"),  # compatibility ideographs
        ("iPhone，１００％。かな한국𠮷", "iPhone，１００％。かな한국𠮷"),
    ],
)
def test_what_characters_become(written, simplified):
    assert "".join(CHANGES.get(character, character) for character in written) == simplified


def test_no_character_is_both_changed_and_a_result():
    assert len(TABLE) == 2 * len(CHANGES) > 6000
    assert not CHANGES.keys() & set(CHANGES.values())


def test_an_unknown_script_names_the_known_ones():
    with pytest.raises(LexiconError, match="'traditional'; expected one of simplified"):
        read_table("traditional")


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(LexiconError, match=r'pip install "spacy-lexner\[zh\]"'):
        read_table.__wrapped__("simplified")
