import pytest

from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.report.gold import GoldText
from spacy_lexner.visualize.lattice import Mark
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.label import Labeller
from spacy_lexner.weak.matching import match, score_matching

LABELS = {"南京": ("LOC",), "南京市": ("GPE", "LOC"), "市长": ("TITLE",), "长江": ("LOC",), "iPhone": ("PRO",)}
WORDS = Labeller(Dictionary(LABELS))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("南京市长江", [(0, 3, "GPE"), (3, 5, "LOC")]),  # 市长 is shorter than 南京市
        ("市长江", [(0, 2, "TITLE")]),  # the first of two equally long ones
        ("在南京的长江", [(1, 3, "LOC"), (4, 6, "LOC")]),
        ("没有", []),
    ],
)
def test_the_longest_words_with_their_first_label(text, expected):
    assert match(WORDS, [text, text]) == 2 * [[Mark(*place) for place in expected]]


def test_texts_are_normalised_as_the_dictionary_is():
    words = Labeller(Dictionary(LABELS, (), Normalization(case=True, width=True)))
    assert match(words, ["ＩＰＨＯＮＥ"]) == [[Mark(0, 6, "PRO")]]


def test_the_score():
    gold = [GoldText("南京市长江", [Mark(0, 3, "GPE"), Mark(3, 5, "RIVER")], []), GoldText("在南京", [], [(1, 3)])]
    assert score_matching(WORDS, gold) == 0.5  # one of two found, one of two right
    assert score_matching(WORDS, gold[1:]) == 0.0
