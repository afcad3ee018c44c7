import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.weak.dictionary import Dictionary, read_dictionary

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
        ("words.csv", "# names\nlabel,word\n# places, cities\nGPE,南京市\nBRAND,小米\n"),
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


def test_labels_of_a_lexicon_that_a_rule_forbids(tmp_path):
    entries = [LexiconEntry("小米", label="BRAND", rules=(Rule("forbid", "FOOD"),)), LexiconEntry("小米", label="FOOD")]
    entries.append(LexiconEntry("长江", label="LOC", rules=(Rule("forbid", "LOC"),)))
    Lexicon.from_entries(entries).save(tmp_path / "lexicon")
    found = read_dictionary(tmp_path / "lexicon")
    assert found.labels == {"小米": ("BRAND",)} and not found.forbidden


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


def test_words_are_trimmed_and_normalised():
    labels = {" IPhone ": ("BRAND",), "iphone": ("PHONE",), "ＡＢＣ": ("ORG",), "无": (), "Ｘ": ("ORG",)}
    found = Dictionary(labels, {"x "}, Normalization(case=True, width=True))
    assert found.labels == {"iphone": ("BRAND", "PHONE"), "abc": ("ORG",)} and found.forbidden == {"x"}


def test_a_lexicon_keeps_its_normalisation(tmp_path):
    normalization = Normalization(case=True, script="simplified", characters="臺台灣湾")
    entries = [LexiconEntry("臺灣", label="GPE"), LexiconEntry("IPhone", label="BRAND")]
    Lexicon.from_entries(entries, normalization=normalization).save(tmp_path / "lexicon")
    found = read_dictionary(tmp_path / "lexicon")
    assert found.labels == {"台湾": ("GPE",), "iphone": ("BRAND",)} and found.normalization == normalization


def write(folder, rows):
    (folder / "words.tsv").write_text("".join(f"{row}\n" for row in rows), "utf8")
    return folder / "words.tsv"


def test_white_space_and_comments_in_a_table(tmp_path):
    path = write(tmp_path, ["# places", " 南京市 \t LOC ", "长江\u3000\tLOC", "#\u3000brands", "小米\tBRAND"])
    assert read_dictionary(path).labels == {"南京市": ("LOC",), "长江": ("LOC",), "小米": ("BRAND",)}


@pytest.mark.parametrize("row", ["上海", "上海\t", "上海\t "])
def test_a_row_without_a_label_is_left_out(tmp_path, row):
    with pytest.warns(UserWarning, match=r"no label: .*words\.tsv:2\.$"):
        found = read_dictionary(write(tmp_path, ["南京市\tLOC", row, "长江\tLOC"]))
    assert found.labels == {"南京市": ("LOC",), "长江": ("LOC",)}


INVALID = ["\tLOC", f"{'长' * 65}\tLOC", "New  York\tLOC"]


def test_invalid_words_are_left_out(tmp_path):
    good = [f"词{i}\tLOC" for i in range(30)]
    with pytest.warns(UserWarning, match="33 entries read, 3 skipped") as caught:
        found = read_dictionary(write(tmp_path, [*good, *INVALID]))
    assert len(found.labels) == 30
    for reason in ("empty word: {}:31", "longer than max_word_length: {}:32", "other than single spaces: {}:33"):
        assert reason.format(tmp_path / "words.tsv") in str(caught[0].message)


def test_many_invalid_words_are_refused(tmp_path):
    with pytest.raises(LexiconError, match=r"empty word: .*words\.tsv:2; .*: correct them"):
        read_dictionary(write(tmp_path, ["南京市\tLOC", *INVALID]))


def test_another_encoding(tmp_path):
    (tmp_path / "words.tsv").write_bytes("小米\tBRAND\n南京市\tLOC\n".encode("gb18030"))
    with pytest.raises(LexiconError, match=r"words\.tsv:1: not utf8 .*\. Convert the file to UTF-8"):
        read_dictionary(tmp_path / "words.tsv")


def test_the_order_of_words_does_not_count():
    words = Dictionary({"南京": ("LOC",), "小米": ("BRAND",)}, {"甲", "乙"})
    same = Dictionary(dict(reversed(words.labels.items())), {"乙", "甲"})
    assert repr(words.content()) == repr(same.content())
    others = [Dictionary(words.labels, {"甲"}), Dictionary({"南京": ("LOC",)}, words.forbidden)]
    others.append(Dictionary(words.labels, words.forbidden, Normalization(case=True)))
    assert all(other.content() != words.content() for other in others)
