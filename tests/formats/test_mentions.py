import pytest

from spacy_lexner.formats.mentions import Mentions
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions
from spacy_lexner.formats.report import Report

TEXT = "😀在南京，在北京，在北京"


def check(start, end, label="GPE", mention=None, **options):
    report = Report()
    mentions = Mentions(TEXT, "file:1", ReadOptions(**options), report)
    return mentions.check(start, end, label, mention), list(report.problems)


def test_places_that_hold_their_mention():
    assert check(2, 4, mention="南京") == (Entity(2, 4, "GPE"), [])
    assert check(2, 4) == (Entity(2, 4, "GPE"), [])
    assert check(2, 4, mention="南 京\n") == (Entity(2, 4, "GPE"), []), "white space is written in many ways"


def test_the_mention_says_what_was_counted():
    assert check(3, 5, mention="南京") == (
        Entity(2, 4, "GPE"),
        ["entity with offsets that count utf-16: read accordingly"],
    )
    assert check(2, 4, mention="南京", offsets="utf-16")[1] == [
        "entity with offsets that count code-points: read accordingly"
    ]
    assert check(3, 5, offsets="utf-16") == (Entity(2, 4, "GPE"), [])


def test_half_a_character():
    with pytest.raises(FormatError, match=r"GPE at 1, 5 begins or ends within a character\. Ends are exclusive"):
        check(1, 5, offsets="utf-16")


def test_repair():
    moved, problems = check(0, 2, mention="南京", repair=True)
    assert moved == Entity(2, 4, "GPE") and problems[0].startswith("entity with wrong offsets: moved")
    for start, end, mention in ((0, 2, "北京"), (0, 2, "上海"), (2, 99, None)):
        left_out, problems = check(start, end, mention=mention, repair=True)
        assert left_out is None and problems[0].startswith("entity with wrong offsets: left out")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, 2, "GPE", "南京"), r"file:1: GPE '南京' is not at 0, 2: there is '😀在'. Ends are exclusive"),
        ((2, 99, "GPE"), "file:1: GPE at 2, 99 is not within the text of 12 characters"),
        ((4, 2, "GPE"), "not within the text of"),
        ((2, 2, "GPE"), "file:1: GPE at 2, 2 is empty. Ends are exclusive"),
        (("2", 4, "GPE"), "file:1: '2', 4 of 'GPE' must be two integers"),
        ((True, 4, "GPE"), "must be two integers"),
        ((2, 4, ""), "the entity at 2, 4 has the label ''; expected a name"),
        ((2, 4, None), "has the label None; expected a name"),
        ((2, 4, "\ud800"), r"file:1: the label '\\ud800' has a lone surrogate, half of a character"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(FormatError, match=message):
        check(*arguments)


def test_collecting():
    report = Report()
    a, b = Entity(2, 4, "GPE"), Entity(0, 1, "X")
    assert Mentions(TEXT, "file:1", ReadOptions(), report).collect([a, None, b, a]) == [b, a]
    assert report.describe() == ["entity given twice: kept once: 1 (file:1: GPE 南京)"]
