import pytest

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.serve.dictionary.uploads import read_rules_file, read_words_file

LEXICON = Lexicon.from_entries([])


def read(text, name="words.txt", label=""):
    return read_words_file(text.encode("utf8"), name, LEXICON, label)


def test_a_word_list():
    upload = read("紫峰大厦\n很忙\n\n很忙\n", label="X")
    assert [(one.word, one.labels, one.weight) for one in upload.edit.add_words] == [
        ("紫峰大厦", ("X",), None),
        ("很忙", ("X",), None),
    ]
    assert upload.skipped == {"duplicate": 1}


def test_a_jieba_dictionary():
    [word] = read("紫峰大厦 3 ns\n", label="X").edit.add_words
    assert (word.word, tuple(word.labels), word.weight) == ("紫峰大厦", ("ns",), 3.0)


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
