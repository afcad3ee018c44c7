import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.formats.offsets import CODE_POINTS, GRAPHEMES, UNITS, UTF_16, Offsets

FAMILY = "👨‍👩‍👧"  # five code points, eight UTF-16 units, one grapheme cluster


@pytest.mark.parametrize("unit, end", [(CODE_POINTS, 7), (UTF_16, 10), (GRAPHEMES, 3)])
def test_an_emoji_before_an_entity(unit, end):
    text = f"在{FAMILY}京"
    offsets = Offsets(text, unit)
    assert offsets.encode(len(text)) == end and offsets.decode(end) == len(text)
    assert offsets.encode(1) == offsets.decode(1) == 1


def test_places_inside_of_a_unit():
    assert Offsets("😀京", UTF_16).decode(1) is None and Offsets("😀京", UTF_16).decode(2) == 1
    assert Offsets(FAMILY, GRAPHEMES).encode(1) is None


def test_places_outside_of_the_text():
    for unit in UNITS:
        offsets = Offsets("a😀", unit)
        assert offsets.encode(3) is None and offsets.decode(-1) is None and offsets.decode(9) is None
        assert Offsets("", unit).encode(0) == Offsets("", unit).decode(0) == 0


def test_errors():
    with pytest.raises(ValueError, match="is 'bytes'; expected one of code-points, utf-16, graphemes"):
        Offsets("a", "bytes")


@given(st.text("a中😀é\u0301\u200d👨🇨🇳\r\n", max_size=20), st.sampled_from(UNITS))
def test_there_and_back(text, unit):
    offsets = Offsets(text, unit)
    for place in range(len(text) + 1):
        encoded = offsets.encode(place)
        assert (encoded is None and unit == GRAPHEMES) or offsets.decode(encoded) == place
    if unit == UTF_16:
        assert [offsets.encode(i) for i in range(len(text) + 1)] == [
            len(text[:i].encode("utf-16-le")) // 2 for i in range(len(text) + 1)
        ]
