import pytest

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.serve.dictionary.edits import WordFields
from spacy_lexner.serve.dictionary.uploads import read_rules_file, read_words_file

LEXICON = Lexicon.from_entries([])


def read(text, name="words.txt", default="", **columns):
    return read_words_file(text.encode("utf8"), name, LEXICON, default, columns)


def test_a_word_list():
    upload = read("紫峰大厦\n很忙\n\n很忙\n", default="X")
    assert [(one.word, one.labels, one.weight) for one in upload.edit.add_words] == [
        ("紫峰大厦", ("X",), None),
        ("很忙", ("X",), None),
    ]
    assert upload.skipped == {"duplicate": 1}


@pytest.mark.parametrize("name", ["words.json", "Words.xlsx"])
def test_files_that_are_no_lists(name):
    with pytest.raises(LexiconError, match=f"{name}: .* files are not read"):
        read('["紫峰大厦"]', name)


def test_a_jieba_dictionary():
    [word] = read("紫峰大厦 3 ns\n", default="X").edit.add_words
    assert (word.word, tuple(word.labels), word.weight) == ("紫峰大厦", ("ns",), 3.0)


def test_a_weight_of_one_is_a_weight():
    """Of a file that has weights; words of others keep theirs."""
    assert [one.weight for one in read("玄武湖 1 ns\n白鹭洲 5 ns\n").edit.add_words] == [1.0, 5.0]
    assert [one.weight for one in read("玄武湖,1\n", "a.csv", weight=1).edit.add_words] == [1.0]
    assert [one.weight for one in read("玄武湖,LL\n", "a.csv", label=1).edit.add_words] == [None]


@pytest.mark.parametrize("name", ["a.csv", "a.CSV"])
def test_a_table_by_the_names_of_its_columns(name):
    text = "word,kind,weight,id\n鼓楼区,LL,2.5,Q1\n玄武湖,,,\n"
    columns = {"word": "word", "label": "kind", "weight": "weight", "entity_id": "id"}
    assert read(text, name, "X", **columns).edit.add_words == (
        WordFields("鼓楼区", ("LL",), 2.5, "Q1"),
        WordFields("玄武湖", ("X",), 1.0, None),
    )


def test_a_table_by_the_numbers_of_its_columns():
    for text, name in (("LL,鼓楼区\n", "a.csv"), ("LL\t鼓楼区\n", "a.txt")):
        assert read(text, name, word=1, label=0).edit.add_words == (WordFields("鼓楼区", ("LL",)),)


@pytest.mark.parametrize("columns", [{}, {"word": 0}])
@pytest.mark.parametrize("text, name", [("鼓楼区,LL\n", "a.csv"), ("鼓楼区,,LL\n", "a.CSV"), ("鼓楼区\tLL\n", "a.txt")])
def test_a_table_does_not_lose_its_fields(text, name, columns):
    with pytest.raises(LexiconError, match=rf"{name}: a table with more.*label_column, weight_column or entity_id_"):
        read(text, name, **columns)


def test_tables_of_words_alone():
    for text, columns in (("word\n鼓楼区\n", {"word": "word"}), ("鼓楼区,\n", {}), ('"鼓楼区"\n', {})):
        assert read(text, "a.csv", **columns).edit.add_words == (WordFields("鼓楼区"),)


def test_columns_that_do_not_apply():
    with pytest.raises(LexiconError, match=r"label_column=1: columns of a table, .* \(it is read as words\)"):
        read("鼓楼区\n", label=1)
    with pytest.raises(LexiconError, match=r"a\.csv:1: no column named 'kind'; the header has 鼓楼区, LL"):
        read("鼓楼区,LL\n", "a.csv", label="kind")


def test_files_that_are_refused():
    with pytest.raises(LexiconError, match=r"brands\.txt: the file is empty"):
        read("", "brands.txt")
    with pytest.raises(LexiconError, match="More than a tenth"):
        read("长江\n" + "长" * 65)
    with pytest.raises(LexiconError, match="has vectors"):
        read("长江 0.5 0.25 0.5 0.5\n大桥 0.5 0.5 0.5 0.5\n")
    with pytest.raises(LexiconError, match=r"brands\.txt:1: not utf8"):
        read_words_file("长江".encode("gbk"), "brands.txt", LEXICON)


def test_rules():
    upload = read_rules_file("大桥\tforce\tLOC\n长江\tprefer\tLOC\t2\n# no rule\n".encode(), "rules.tsv")
    assert upload.edit.add_rules == (WordRule("大桥", "force", "LOC"), WordRule("长江", "prefer", "LOC", 2.0))
    assert upload.edit.replace
    with pytest.raises(LexiconError, match=r"my\.tsv:2: .*the mode is 'forced'"):
        read_rules_file("大桥\tforce\tLOC\n长江\tforced\tLOC".encode(), "my\n.tsv")
