import pytest
import srsly

from spacy_lexner.integrity.seal import SealWarning
from spacy_lexner.lexicon import LexiconEntry, MatchOptions
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.pipeline.matcher.lex_matcher import LexMatcher


@pytest.fixture
def matcher(tmp_path):
    file = tmp_path / "rules.tsv"
    file.write_text("长江\tforce\tLOC\n大桥\tprefer\tLOC\t1.5\n新词\n", "utf8")
    matcher = LexMatcher(options=MatchOptions(min_length=2, single_chars="drop"), spans_key="words")
    matcher.add_words(["大桥", LexiconEntry("南京", rules=(Rule("forbid"),))])
    matcher.load_rules(file)
    return matcher


def both_ways(matcher, folder, **settings):
    """The components loaded from a folder and from bytes."""
    matcher.to_disk(folder)
    return LexMatcher().from_disk(folder, **settings), LexMatcher().from_bytes(matcher.to_bytes(), **settings)


def test_everything_comes_back(matcher, tmp_path):
    for again in both_ways(matcher, tmp_path / "saved"):
        assert again.version == matcher.version and again.options == matcher.options and again.spans_key == "words"
        assert again.rule_files == matcher.rule_files
        rules = {entry.word: entry.rules for entry in again.lexicon.ruled_words()}
        assert rules == {entry.word: entry.rules for entry in matcher.lexicon.ruled_words()} and len(rules) == 3


def test_rules_of_files_can_still_be_taken_away(matcher, tmp_path):
    for again in both_ways(matcher, tmp_path / "saved"):
        (tmp_path / "rules.tsv").write_text("大桥\tforbid\n", "utf8")
        again.reload()
        assert {entry.word: str(*entry.rules) for entry in again.lexicon.ruled_words()} == {
            "大桥": "forbid",
            "南京": "forbid",
        }
        assert "长江" not in again.lexicon and "新词" not in again.lexicon


def test_parts_can_be_left_out(matcher, tmp_path):
    for again in both_ways(matcher, tmp_path / "saved", exclude=["rules"]):
        assert [entry.word for entry in again.lexicon.ruled_words()] == ["南京"]
    for again in both_ways(matcher, tmp_path / "saved", exclude=["cfg", "lexicon"]):
        assert again.source.matcher is None and again.options == MatchOptions()


def test_what_was_saved_before_there_were_rules(matcher, tmp_path):
    matcher.to_disk(tmp_path / "saved")
    cfg = srsly.read_json(tmp_path / "saved" / "cfg")
    srsly.write_json(tmp_path / "saved" / "cfg", {key: cfg[key] for key in cfg if key != "rule_files"})
    (tmp_path / "saved" / "rules").unlink()
    (tmp_path / "saved" / "seal.json").unlink()
    with pytest.warns(SealWarning, match="lexner seal"):
        again = LexMatcher().from_disk(tmp_path / "saved")
    assert again.rule_files == () and [entry.word for entry in again.lexicon.ruled_words()] == ["南京"]


def test_nothing_to_save(tmp_path):
    for again in both_ways(LexMatcher(), tmp_path / "saved"):
        assert again.source.matcher is None
