"""Where two segmentations differ."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from word_differences import Stretch, differences, summarise_differences

VOCAB = spacy.blank("zh").vocab


def example(found, gold):
    """Two segmentations, each with a space between the words."""
    found, gold = (Doc(VOCAB, words.split(" "), spaces=[False] * len(words.split(" "))) for words in (found, gold))
    return Example(found, gold)


@pytest.mark.parametrize(
    "gold, found, stretch, kind",
    [
        ("我 天安门 好", "我 天安 门 好", (("天安门",), ("天安", "门")), "split"),
        ("我 天安 门 好", "我 天安门 好", (("天安", "门"), ("天安门",)), "joined"),
        ("北京 大学生", "北京大学 生", (("北京", "大学生"), ("北京大学", "生")), "crossed"),
    ],
)
def test_kinds(gold, found, stretch, kind):
    assert differences([example(found, gold)]) == {Stretch(*stretch): 1}
    assert Stretch(*stretch).kind == kind


def test_white_space_does_not_count():
    gold = Doc(VOCAB, ["我", "天安门"], spaces=[False, False])
    found = Doc(VOCAB, ["我", " \n", "天安", "门"], spaces=[False, False, False, True])
    assert differences([Example(found, gold)]) == {Stretch(("天安门",), ("天安", "门")): 1}
    assert not differences([example("我 爱", "我 爱")])


def test_summary():
    examples = [example("天安 门", "天安门"), example("天安 门", "天安门"), example("长 江", "长江")]
    assert summarise_differences(differences(examples), n_common=1) == {
        "split": {"all": 3, "天安门 → 天安 门": 2},
        "joined": {"all": 0},
        "crossed": {"all": 0},
    }


@st.composite
def segmentations(draw):
    text = draw(st.text("中国人民", min_size=1, max_size=12))
    places = [draw(st.sets(st.integers(1, len(text)))) for _ in range(2)]
    return [
        " ".join(text[i:j] for i, j in zip([0, *sorted(edges)], [*sorted(edges), len(text)]) if i < j)
        for edges in places
    ]


@given(segmentations())
def test_words_that_differ_are_those_that_are_not_shared(pair):
    """Stretches hold all wrong words and all missed ones, and no others."""
    found, gold = pair
    [*stretches] = differences([example(found, gold)]).elements()

    def spans(words):
        ends = [len("".join(words.split()[: i + 1])) for i in range(len(words.split()))]
        return set(zip([0, *ends], ends))

    assert sum(len(each.gold) for each in stretches) == len(spans(gold) - spans(found))
    assert sum(len(each.found) for each in stretches) == len(spans(found) - spans(gold))
    assert all("".join(each.gold) == "".join(each.found) for each in stretches)
