import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon.normalization import Normalization, to_codes

EVERY = [Normalization(case, width) for case in (False, True) for width in (False, True)]


@pytest.mark.parametrize("normalization", EVERY)
@given(st.text(st.characters(codec=None)))
def test_length_is_kept_and_both_ways_agree(normalization, text):
    normalized = normalization(text)
    assert len(normalized) == len(text)
    assert to_codes(normalized).tolist() == normalization.codes(to_codes(text)).tolist()
    assert normalization(normalized) == normalized


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
