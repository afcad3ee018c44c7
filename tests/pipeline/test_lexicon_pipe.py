import threading

import numpy as np
import pytest
import spacy
from thinc.api import Model

from spacy_lexner.candidates.lexicon_node import RulesLink
from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, MatchOptions, Normalization
from spacy_lexner.lexicon.rule_file import RuleFile
from spacy_lexner.lexicon.rules import Rule, RuleReader, WordRule
from spacy_lexner.pipeline.lexicon_pipe import LexiconPipe, find_lexicon, find_matchers

READER = RuleReader("lex_ner", frozenset(["LOC", "PER"]), frozenset(["forbid"]))


@pytest.fixture
def owner():
    owner = LexiconPipe("owner", MatchOptions())
    owner.add_words(["长江", "大桥", LexiconEntry("南京", weight=3.0)])
    link = RulesLink()
    link.reader = READER
    owner.add_listener(Model("tagger", lambda model, X, is_train: (X, lambda dY: dY), attrs={"link": link}), "lex_ner")
    return owner


def rules(owner):
    return {entry.word: [str(rule) for rule in entry.rules] for entry in owner.lexicon.ruled_words()}


def test_all_rules_of_a_word_are_given_together(owner):
    owner.add_rules([("长江", "force", "LOC"), WordRule("大桥", "forbid", "PER"), ("大桥", "prefer", "LOC", 2)])
    assert rules(owner) == {"长江": ["force LOC"], "大桥": ["forbid PER", "prefer LOC 2"]}
    owner.add_rules([("大桥", "forbid"), ("新词",)])
    assert rules(owner) == {"长江": ["force LOC"], "大桥": ["forbid"]} and "新词" in owner.lexicon
    owner.add_words(["长江"])
    owner.remove_rules(["大桥", "不在"])
    assert rules(owner) == {"长江": ["force LOC"]} and "大桥" in owner.lexicon and "不在" not in owner.lexicon
    owner.remove_words(["长江"])
    assert rules(owner) == {} and "长江" not in owner.lexicon


def test_other_knowledge_of_a_word_stays(owner):
    owner.add_rules([("南京", "force", "LOC")])
    assert owner.lexicon.get("南京").weight == 3.0


def test_files(owner, tmp_path):
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    first.write_text("长江\tforce\tLOC\n外来\tforbid\n", "utf8")
    second.write_text("长江\tforbid\tPER\n", "utf8")
    owner.load_rules(first)
    owner.load_rules(second)
    assert rules(owner) == {"长江": ["forbid PER", "force LOC"], "外来": ["forbid"]}
    first.write_text("长江\tprefer\tLOC\t1\n", "utf8")
    owner.reload()
    assert rules(owner) == {"长江": ["forbid PER", "prefer LOC 1"]} and "外来" not in owner.lexicon
    owner.add_rules([("长江", "forbid")])  # the last setting counts, until the files are read again
    assert rules(owner) == {"长江": ["forbid"]}
    owner.load_rules(second)
    assert rules(owner) == {"长江": ["forbid PER", "prefer LOC 1"]}
    owner.set_lexicon(Lexicon.from_entries([LexiconEntry("武汉")]))
    assert rules(owner) == {"长江": ["forbid PER", "prefer LOC 1"]} and "南京" not in owner.lexicon
    owner.set_rule_files([])
    assert list(owner.lexicon) == ["武汉"]


@pytest.mark.parametrize(
    "text,message",
    [
        ("长江\tmust\tLOC\n", "rules.tsv:1: the mode is 'must'"),
        ("长江\tforce\tLOK\n", "'force LOK' of '长江' applies to no component: lex_ner has the labels LOC, PER"),
        (
            "长江\tforce\tLOC\n\n长江\tforce\tPER\n",
            "'长江' contradict each other .lex_ner.: force LOC and force PER",
        ),
    ],
)
def test_what_makes_no_sense_changes_nothing(owner, tmp_path, text, message):
    file = tmp_path / "rules.tsv"
    file.write_text("大桥\tforbid\n", "utf8")
    owner.load_rules(file)
    version = owner.version
    file.write_text(text, "utf8")
    with pytest.raises(LexiconError, match=message):
        owner.reload()
    (tmp_path / "other").mkdir()
    other = file.rename(tmp_path / "other" / "rules.tsv")
    with pytest.raises(LexiconError, match=message):
        owner.set_rule_files([RuleFile(str(other))])
    with pytest.raises(LexiconError):
        owner.add_rules([("新词", "force", "LOC"), ("长江", "force", "LOK")])
    entry = LexiconEntry("长江", rules=(Rule("force", "LOK"),))
    with pytest.raises(LexiconError):
        owner.set_lexicon(Lexicon.from_entries([entry]))
    assert owner.version == version and [file.path for file in owner.rule_files] == [str(tmp_path / "rules.tsv")]


def test_without_readers_any_label_will_do(owner, caplog):
    [tagger] = owner.listeners
    owner.remove_listener(tagger, "lex_ner")
    owner.add_rules([("长江", "force", "SHIP")])
    owner.check_rules(warn=True)
    assert not caplog.records
    owner.add_listener(tagger, "lex_ner")
    owner.check_rules(warn=True)
    assert "owner: The rule 'force SHIP' of '长江' applies to no component" in caplog.text


def test_without_a_lexicon():
    owner = LexiconPipe("owner", MatchOptions())
    with pytest.raises(ValueError, match=r"'owner' has no lexicon. Give it one.*`spacy lexner init-config`"):
        owner.remove_words(["长江"])
    owner.add_rules([("长江", "force", "LOC")])
    assert rules(owner) == {"长江": ["force LOC"]}


@pytest.mark.parametrize("words", [[], ["武汉"]])
def test_the_first_words_are_checked_as_others_are(words):
    owner = LexiconPipe("owner", MatchOptions())
    if words:
        owner.add_words(words)
    with pytest.raises(LexiconError, match="white space in the word"):
        owner.add_words(["南京", "长江\t大桥"])
    owner.add_words([LexiconEntry("南京", np.ones(2), 2.0, "A"), LexiconEntry("南京", weight=3.0, labels="B")])
    assert sorted(owner.lexicon) == sorted([*words, "南京"]) and owner.lexicon.dim == 2
    entry = owner.lexicon.get("南京")
    assert (entry.weight, entry.labels, entry.vector.tolist()) == (3.0, ("A", "B"), [1, 1])


@pytest.mark.parametrize("word", [5, float("nan"), ("长江", "LOC")])
def test_words_that_are_no_strings(owner, word):
    with pytest.raises(TypeError, match="A lexicon word must be a str; got"):
        owner.add_words(["南京", word])


@pytest.mark.parametrize("method", ["add_words", "remove_words", "add_rules", "remove_rules"])
def test_one_word_in_place_of_several(owner, method):
    before = owner.version
    with pytest.raises(
        LexiconError, match=r"Expected several words, got '长江'. Put a single word in a list: \['长江'\]"
    ):
        getattr(owner, method)("长江")
    assert owner.version == before


def test_rules_of_words_with_white_space_at_their_edges(owner, tmp_path):
    (tmp_path / "rules.tsv").write_text("富士 施乐 \tforce\tLOC\n", "utf8")
    owner.load_rules(tmp_path / "rules.tsv")
    assert rules(owner) == {"富士 施乐": ["force LOC"]}
    owner.add_rules([(" 富士 施乐", "forbid")])
    assert rules(owner) == {"富士 施乐": ["forbid"]} and owner._dictionary.from_files == {}
    owner.remove_words(["富士 施乐\n"])
    assert rules(owner) == {} and "富士 施乐" not in owner.lexicon


def test_words_are_replaced_by_exactly_what_is_given(owner):
    owner.add_rules([("长江", "force", "LOC")])
    before = owner.version
    new = owner.replace_words([LexiconEntry("长江"), LexiconEntry("南京", labels="X")], ["大桥", "没有"])
    assert owner.version == before  # nothing is changed yet
    owner.use_words(new)
    assert sorted(owner.lexicon) == ["南京", "长江"] and rules(owner) == {}
    entry = owner.lexicon.get("南京")
    assert entry.weight == 1.0 and entry.labels == ("X",)
    with pytest.raises(LexiconError, match="PLANET"):
        owner.replace_words([LexiconEntry("长江", rules=(Rule("force", "PLANET"),))])


def test_rules_of_files_are_replaced_too(owner, tmp_path):
    path = tmp_path / "rules.tsv"
    path.write_text("大桥\tforce\tLOC\n长江\tforbid\n", "utf8")
    owner.load_rules(path)
    owner.use_words(owner.replace_words([LexiconEntry("大桥")]))
    assert rules(owner) == {"长江": ["forbid"]}


def test_words_of_no_lexicon_cannot_be_replaced():
    with pytest.raises(ValueError, match="has no lexicon"):
        LexiconPipe("owner", MatchOptions()).replace_words([LexiconEntry("长江")])


def test_no_change_is_lost_between_threads(owner):
    def change(part):
        for i in range(30):
            owner.add_rules([(f"词{part}第{i}", "force", "LOC")])

    threads = [threading.Thread(target=change, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rules(owner)) == 90


def test_matchers():
    nlp = spacy.blank("zh")
    assert find_matchers(nlp) == {} and find_lexicon(nlp) is None
    empty = nlp.add_pipe("lex_matcher", name="empty")
    nlp.add_pipe("sentencizer")
    assert find_matchers(nlp) == {"empty": empty} and find_lexicon(nlp) is None
    matcher = nlp.add_pipe("lex_matcher", name="full")
    matcher.add_words(["南京"])
    assert list(find_matchers(nlp)) == ["empty", "full"] and find_lexicon(nlp) is matcher.lexicon
    with nlp.select_pipes(disable="full"):
        assert find_matchers(nlp) == {"empty": empty}


def test_reading_one_file_keeps_changes_to_the_words_of_others(owner, tmp_path):
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    first.write_text("长江\tforce\tLOC\n外来\tforbid\n", "utf8")
    second.write_text("大桥\tforce\tLOC\n", "utf8")
    owner.load_rules(first)
    owner.add_rules([("长江", "forbid")])
    owner.remove_words(["外来"])
    owner.load_rules(second)
    assert rules(owner) == {"长江": ["forbid"], "大桥": ["force LOC"]} and "外来" not in owner.lexicon
    owner.reload()
    assert rules(owner) == {"长江": ["force LOC"], "外来": ["forbid"], "大桥": ["force LOC"]}


def test_a_further_file_is_read_alone(owner, tmp_path):
    """A pipeline that was saved, and is used where its files are missing, keeps its rules."""
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    first.write_text("长江\tforce\tLOC\n南京\tforbid\n外来\tforbid\n", "utf8")
    second.write_text("大桥\tforce\tLOC\n南京\tforbid\tPER\n", "utf8")
    owner.load_rules(first)
    owner.add_rules([("长江", "forbid")])
    owner.remove_words(["外来"])
    expected = {"长江": ["forbid"], "大桥": ["force LOC"], "南京": ["forbid", "forbid PER"]}
    nlp = spacy.blank("zh")
    matcher = nlp.add_pipe("lex_matcher")
    matcher.set_lexicon(owner.lexicon.without_words(["南京"]))
    matcher.load_rules(first)
    matcher.add_rules([("长江", "forbid")])
    matcher.remove_words(["外来"])
    nlp.to_disk(tmp_path / "model")
    first.unlink()
    for each in (owner, spacy.load(tmp_path / "model").get_pipe("lex_matcher")):
        each.load_rules(second)
        assert rules(each) == expected and "外来" not in each.lexicon
        assert [file.path for file in each.rule_files] == [str(first), str(second)]
        with pytest.raises(LexiconError, match=r"first\.tsv: no such file"):
            each.load_rules(second)
        assert rules(each) == expected


def test_spellings_of_one_word_share_their_rules(tmp_path):
    owner = LexiconPipe("owner", MatchOptions())
    owner.set_lexicon(Lexicon.from_entries([], normalization=Normalization(case=True)))
    (tmp_path / "rules.tsv").write_text("iPhone\tforce\tLOC\nIPHONE\tforbid\tPER\n", "utf8")
    expected = {"iphone": ["forbid PER", "force LOC"]}
    owner.load_rules(tmp_path / "rules.tsv")
    assert rules(owner) == expected
    owner.set_rule_files([])
    owner.add_rules([("iPhone", "force", "LOC"), ("IPHONE", "forbid", "PER")])
    assert rules(owner) == expected


def test_rules_of_an_entry_may_be_a_list(owner):
    owner.add_words([LexiconEntry("长江", rules=[Rule("forbid", "PER")])])
    assert rules(owner) == {"长江": ["forbid PER"]}
