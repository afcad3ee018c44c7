import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon.unbreakable import find_unbreakable


def unbreakable(text):
    starts, ends = find_unbreakable(text)
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist()) if end - start > 1]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("今天天气好。", []),
        ("买iPhone15和T恤", ["iPhone15"]),
        ("H1N1病毒与Ｈ１Ｎ１", ["H1N1", "Ｈ１Ｎ１"]),
        ("Iron Man", ["Iron", "Man"]),
        ("École, naïve, München, łódź, Ωμέγα, Москва", ["École", "naïve", "München", "łódź", "Ωμέγα", "Москва"]),
        ("2024年3.14%和１.５％", ["2024", "3.14%", "１.５％"]),
        ("1,000,000元，1,2,3，12,34", ["1,000,000", "12", "34"]),
        ("1,0000", ["0000"]),
        ("第10,000.5名", ["10,000.5"]),
        ("v2.0.1", ["v2.0.1"]),
        ("他说2010.他走了", ["2010"]),
        ("a.b a@b.com e-mail AT&T", ["com", "mail", "AT"]),
        ("100% abc%", ["100%", "abc"]),
        ("cafe\u0301好", ["cafe\u0301"]),
        ("字\u0301", ["字\u0301"]),
        ("👩‍👩‍👧家❤️👍🏽", ["👩‍👩‍👧", "❤️", "👍🏽"]),
        ("1️⃣", ["1️⃣"]),
        ("🇨🇳🇯🇵", ["🇨🇳", "🇯🇵"]),
        ("葛\U000e0100城", ["葛\U000e0100"]),
        ("\u0301\u200d\ufe0f", []),
        ("字\0\u0301字", []),  # two texts
        ("a b\u3000c\td", []),
    ],
)
def test_runs(text, expected):
    assert unbreakable(text) == expected


@given(st.text("aZ9０é中。 .,%\u0301\u200d\ufe0f👩🇨\n\t\u3000"))
def test_runs_lie_apart_and_hold_no_white_space(text):
    starts, ends = find_unbreakable(text)
    assert (starts < ends).all() and (ends[:-1] <= starts[1:]).all()
    assert not any(character.isspace() for run in unbreakable(text) for character in run)


@pytest.mark.parametrize("unit", ["a", "1,", "1,000", "1.", "9%", "👩\u200d", "\u0301", "🇨", "a\u0301", ".,%"])
def test_linear(unit):
    """Quadratic time would mean hours here."""
    start = time.perf_counter()
    find_unbreakable(unit * 200_000)
    assert time.perf_counter() - start < 20
