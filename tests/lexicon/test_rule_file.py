import gzip

import pytest

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.rule_file import RuleFile, collect_rules, read_rule_files, read_rules, write_rules
from spacy_lexner.lexicon.rules import Rule, WordRule

TEXT = "# a comment\n#\u3000x\n南京\n长江\tforce\tLOC\r\n  \n大桥\tprefer\tLOC\t-2.5\n大桥\tforbid\tPER\n的\tforbid\n"
ROWS = [
    WordRule("南京"),
    WordRule("长江", "force", "LOC"),
    WordRule("大桥", "prefer", "LOC", -2.5),
    WordRule("大桥", "forbid", "PER"),
    WordRule("的", "forbid"),
]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rules.tsv").write_text(TEXT, "utf8")
    return tmp_path / "rules.tsv"


def test_lines(path):
    assert list(read_rules(path)) == ROWS


def test_encodings_and_compression(tmp_path):
    (tmp_path / "gbk.tsv").write_bytes(TEXT.encode("gb18030"))
    (tmp_path / "rules.tsv.gz").write_bytes(gzip.compress(("\ufeff" + TEXT).encode("utf8")))
    assert list(read_rules(tmp_path / "gbk.tsv", encoding="gb18030")) == ROWS
    assert list(read_rules(tmp_path / "rules.tsv.gz"))[1:] == ROWS[1:]
    with pytest.raises(LexiconError, match=r"gbk.tsv:2: not utf8 .*it looks like gb18030"):
        list(read_rules(tmp_path / "gbk.tsv"))


def test_all_rules_of_a_word(path, tmp_path):
    (tmp_path / "more.tsv").write_text("长江\tprefer\tPER\t1\n南京\thint\n", "utf8")
    rules = read_rule_files([RuleFile(str(path)), RuleFile(str(tmp_path / "more.tsv"))])
    assert rules == {
        "南京": (),
        "长江": (Rule("force", "LOC"), Rule("prefer", "PER", 1.0)),
        "大桥": (Rule("forbid", "PER"), Rule("prefer", "LOC", -2.5)),
        "的": (Rule("forbid"),),
    }
    (tmp_path / "again.tsv").write_text(write_rules(rules), "utf8")
    assert collect_rules(read_rules(tmp_path / "again.tsv")) == rules


def test_empty_file(tmp_path):
    (tmp_path / "empty.tsv").touch()
    assert list(read_rules(tmp_path / "empty.tsv")) == []


@pytest.mark.parametrize(
    "line,message",
    [
        ("长江\tmust", "the mode is 'must'; expected one of hint, force, forbid, prefer"),
        ("长江  大桥\tforce\tLOC", "white space in the word, other than single spaces: '长江  大桥'"),
        ("\tforce\tLOC", "empty word"),
        ("\u200b\tforce\tLOC", "empty word"),
        ("长" * 65 + "\tforce\tLOC", "word longer than 64 characters: '长"),
        ("长江\tprefer\tLOC", "prefer needs a weight other than 0"),
        ("长江\tprefer\tLOC\thigh", "the weight is 'high'; expected a number"),
        ("长江\tprefer\tLOC\tnan", "the weight is nan"),
        ("长江\tforce\tLOC\t3", "force takes no weight, but has 3"),
        ("长江\tforce\tLOC\t\tx", "5 columns, expected at most 4"),
    ],
)
def test_invalid_lines(tmp_path, line, message):
    (tmp_path / "rules.tsv").write_text(f"南京\n\n{line}\n", "utf8")
    with pytest.raises(LexiconError, match=rf"rules.tsv:3: {message}.*Expected word, mode, label and weight"):
        list(read_rules(tmp_path / "rules.tsv"))


@pytest.mark.parametrize(
    "line",
    [
        *("张三 forbid", "张三\u3000forbid", "张三,forbid", "张三，forbid,", "张三 forbid  PER"),
        *("张三 force", "张三 hint", "大桥 prefer -2.5", "大桥,prefer,,2", "大桥 prefer LOC 2"),
        *("北京大学 force LOC", "北京大学  force   LOC", "北京大学,force,LOC", '"北京大学";"force";"LOC"'),
        *("北京大学 force LOC # 大学", "富士 施乐 force ORG"),
        *("New York force LOC", "Paris forbid", "Paris prefer LOC 0.5"),
    ],
)
def test_rules_without_tabs(tmp_path, line):
    path = tmp_path / "rules.tsv"
    path.write_text(f"南京\n{line}\n", "utf8")
    with pytest.raises(LexiconError, match=r"rules.tsv:2: .* is a rule without tabs .*separated by tabs"):
        list(read_rules(path))


def test_words_like_rules(tmp_path):
    words = ["air force", "royal air force", "hint", "force", "forbid", "Air Force One", "laws that forbid most of it"]
    words += ["富士 施乐", "reinforce 张三", "a,b", "3,14", "people prefer large cars"]
    (tmp_path / "rules.tsv").write_text("\n".join([*words, "God forbid\t", "张三 force LOC\thint"]), "utf8")
    assert list(read_rules(tmp_path / "rules.tsv")) == list(map(WordRule, [*words, "God forbid", "张三 force LOC"]))


def test_missing_file(tmp_path):
    with pytest.raises(LexiconError, match=r"nowhere.tsv: no such file"):
        list(read_rules(tmp_path / "nowhere.tsv"))


def test_a_word_that_would_be_read_as_a_comment(tmp_path):
    for word, shown in (("＃ 一号", "＃ 一号"), ("\u200b# 一号", r"\\u200b# 一号")):  # without the invisible edge
        (tmp_path / "rules.tsv").write_text(f"{word}\tforce\tLOC\n", "utf8")
        with pytest.raises(LexiconError, match=rf"rules.tsv:1: '{shown}' begins like a comment"):
            list(read_rules(tmp_path / "rules.tsv"))
