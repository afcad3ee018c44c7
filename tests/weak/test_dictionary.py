import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.weak.dictionary import read_dictionary

RULES = (
    "# words\n南京市\tforce\tGPE\n长江\tprefer\tLOC\t2\n市长\tforbid\n小米\tforce\tBRAND\n小米\tprefer\tFOOD\t1\n大桥\n"
)


def test_a_dictionary_file(tmp_path):
    (tmp_path / "rules.tsv").write_text(RULES, "utf8")
    found = read_dictionary(tmp_path / "rules.tsv")
    assert found.labels == {"南京市": ("GPE",), "长江": ("LOC",), "小米": ("BRAND", "FOOD")}
    assert found.forbidden == {"市长"} and found.label_names == ("BRAND", "FOOD", "GPE", "LOC")


@pytest.mark.parametrize(
    "name, text", [("words.tsv", "南京市\tGPE\n小米\tBRAND\n"), ("words.csv", "南京市,GPE\n小米,BRAND\n")]
)
def test_a_table(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf8")
    assert read_dictionary(tmp_path / name).labels == {"南京市": ("GPE",), "小米": ("BRAND",)}


@pytest.mark.parametrize(
    "name, text",
    [
        ("words.tsv", "word\tlabel\n南京市\tGPE\n小米\tBRAND\n"),
        ("words.csv", "word,label\n南京市,GPE\n小米,BRAND\n"),
        ("words.csv", '\n"Label","Count","Word"\nGPE,3,南京市\nBRAND,4,小米\n'),
    ],
)
def test_the_names_of_columns_are_no_word(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf8")
    assert read_dictionary(tmp_path / name).labels == {"南京市": ("GPE",), "小米": ("BRAND",)}


def test_a_lexicon(tmp_path):
    entries = [LexiconEntry("南京市", label="GPE"), LexiconEntry("大桥"), LexiconEntry("市长", rules=(Rule("forbid"),))]
    Lexicon.from_entries([*entries, LexiconEntry("长江", rules=(Rule("force", "LOC"),))]).save(tmp_path / "lexicon")
    found = read_dictionary(tmp_path / "lexicon")
    assert found.labels == {"南京市": ("GPE",), "长江": ("LOC",)} and found.forbidden == {"市长"}


@pytest.mark.parametrize(
    "text", ["南京市\n长江\n", "南京市\tforbid\n长江\thint\n", "南京市\tforce\tGPE\n南京市\tforbid\n"]
)
def test_no_labels(tmp_path, text):
    (tmp_path / "words.txt").write_text(text, "utf8")
    with pytest.raises(LexiconError, match="no word has a label"):
        read_dictionary(tmp_path / "words.txt")


def test_no_dictionary(tmp_path):
    with pytest.raises(LexiconError, match="no such dictionary"):
        read_dictionary(tmp_path / "none.tsv")
