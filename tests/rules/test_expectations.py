import pytest

from spacy_lexner.formats.record import FormatError
from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.rule_file import collect_rules
from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.rules.alone import follow_rules
from spacy_lexner.rules.expectations import Expectation, read_tests, run_tests

TESTS = """# bridges
武汉市长江大桥很长
+ 长江大桥 LOC
- 市长
=

市长很忙
+\t市长\tTITLE
- 市长 LOC
"""


def rules(*rows):
    return collect_rules(WordRule(*row) for row in rows)


@pytest.fixture
def file(tmp_path):
    def write(text):
        (tmp_path / "tests.txt").write_text(text, "utf8")
        return tmp_path / "tests.txt"

    return write


def messages(path, *rows):
    return [failure.message for failed in run_tests(read_tests(path), follow_rules(rules(*rows))) for failure in failed]


def test_what_is_read(file):
    first, second = read_tests(file(TESTS))
    assert first.text == "武汉市长江大桥很长" and first.place.endswith("tests.txt:2")
    assert first.expectations == (Expectation("+", "长江大桥", "LOC"), Expectation("-", "市长"), Expectation("="))
    assert second.expectations == (Expectation("+", "市长", "TITLE"), Expectation("-", "市长", "LOC"))


def test_words_with_spaces(file):
    lines = ["air max很轻", "+ air max\tPROD", "-\tair max\tORG", "-\tair max", " - air max\t"]
    (test,) = read_tests(file("\n".join(lines)))
    expected = [("+", "air max", "PROD"), ("-", "air max", "ORG"), ("-", "air max", ""), ("-", "air max", "")]
    assert list(test.expectations) == expected
    found = messages(file("air max很轻\n-\tair max\n"), ("air max", "force", "PROD"))
    assert found == ["air max is PROD"]


def test_rules_that_do_as_expected(file):
    assert messages(file(TESTS), ("长江大桥", "force", "LOC"), ("市长", "prefer", "TITLE", 2.0)) == []


def test_what_is_not_as_expected(file):
    found = messages(file(TESTS), ("市长", "force", "LOC"), ("武汉市", "force", "GPE"))
    # The two forced words overlap in the first text: either may win, and neither is the bridge.
    assert found[0].startswith("长江大桥 is not LOC, but: ")
    assert any(message.startswith("unexpected: ") for message in found)
    assert found[-2:] == ["市长 is not TITLE, but: 市长 LOC", "市长 is LOC"]


def test_a_weight_below_zero_and_a_forbidden_word_find_nothing(file):
    rows = [("长江大桥", "prefer", "LOC", -2.0), ("市长", "forbid")]
    assert messages(file("市长在长江大桥\n=\n"), *rows) == []


def test_any_entity(file):
    assert messages(file("市长来了\n- 市长\n"), ("市长", "forbid", "ENTITY")) == []


def test_entities_of_any_label(file):
    tests = file("武汉市长\n+ 市长 ENTITY\n- 武汉市 ENTITY\n")
    assert messages(tests, ("市长", "force", "ENTITY"), ("武汉市", "forbid", "ENTITY")) == []


def test_rules_that_contradict_each_other():
    with pytest.raises(LexiconError, match="contradict"):
        follow_rules(rules(("市长", "force", "LOC"), ("市长", "forbid")))


@pytest.mark.parametrize(
    "text, message",
    [
        ("+ 市长 LOC\n", "tests.txt:1: an expectation without a text"),
        ("市长\n\n武汉\n+ 武汉 LOC\n", "tests.txt:1: '市长' has no expectations"),
        ("市长\n+ 市长\n", "tests.txt:2: '\\+ 市长'"),
        ("市长\n+ air max PROD\n", "needs tabs"),
        ("市长\n- 武汉\n", "tests.txt:2: '武汉' does not occur in '市长'"),
        ("市长\n= 市长\n", "tests.txt:2"),
        ("# nothing\n", "no tests"),
    ],
)
def test_wrong_files(file, text, message):
    with pytest.raises(FormatError, match=message):
        read_tests(file(text))


def test_white_space_before_an_expectation(file):
    path = file("南京很大\n- 南京\n \t+ 南京 LOC\n  =\n")
    assert [each.kind for each in read_tests(path)[0].expectations] == ["-", "+", "="]
    assert messages(path) == ["南京 is not LOC, but: nothing is found"]
