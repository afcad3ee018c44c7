import pytest

from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.serve.dictionary.dictionary import Dictionary
from spacy_lexner.serve.dictionary.edits import Edit, WordFields
from spacy_lexner.serve.dictionary.search import find_rules, find_words


@pytest.fixture
def dictionary(make_pipe):
    dictionary = Dictionary(make_pipe(words=["长江", "长江大桥", "黄河", "大桥"]))
    dictionary.change("remove_words", Edit(remove_words=("黄河",)))
    rules = (WordRule("大桥", "forbid", "PER"), WordRule("大桥", "prefer", "LOC", 2.0))
    dictionary.change("add_rules", Edit(add_words=(WordFields("南京长江"),), add_rules=rules))
    return dictionary


@pytest.mark.parametrize(
    ("query", "mode", "words"),
    [
        ("长江", "contains", ["长江", "长江大桥", "南京长江"]),
        ("长江", "prefix", ["长江", "长江大桥"]),
        (" 长江 ", "exact", ["长江"]),
        ("黄河", "exact", []),
        ("黄河", "contains", []),
    ],
)
def test_words(dictionary, query, mode, words):
    page = find_words(dictionary, query, mode, False, 0, 10)
    assert sorted(row["word"] for row in page.rows) == sorted(words) and page.next is None


def test_changed_words_name_removed_ones(dictionary):
    rows = {row["word"]: row for row in find_words(dictionary, "", "contains", True, 0, 10).rows}
    assert set(rows) == {"黄河", "大桥", "南京长江"} and all(row["changed"] for row in rows.values())
    assert [word for word, row in rows.items() if row["removed"]] == ["黄河"]
    assert rows["大桥"]["has_vector"] and not rows["南京长江"]["has_vector"]
    assert rows["大桥"]["rules"][1] == {"mode": "prefer", "label": "LOC", "weight": 2.0}


def test_pages(dictionary):
    first = find_words(dictionary, "", "contains", False, 0, 3)
    second = find_words(dictionary, "", "contains", False, first.next, 3)
    assert [len(first.rows), first.next, len(second.rows), second.next] == [3, 3, 1, None]
    assert len({row["word"] for row in first.rows + second.rows}) == 4


def test_rules(dictionary):
    rows = [(row["word"], row["mode"], row["label"]) for row in find_rules(dictionary, "桥", 0, 10).rows]
    assert rows == [("大桥", "forbid", "PER"), ("大桥", "prefer", "LOC")]
    page = find_rules(dictionary, "", 0, 1)
    assert len(page.rows) == 1 and page.next == 1 and find_rules(dictionary, "江", 0, 1).rows == []
    assert find_rules(dictionary, " 大桥 ", 0, 1) == page  # normalised as words are
