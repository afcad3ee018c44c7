import pytest
import spacy

from spacy_lexner.rules.changes import Dictionaries, find_entities

TEXTS = ["李四去南京", "今天天气好", "王五住在上海", "李四去南京"]


def changes(before, after, words=("南京", "天气", "上海", "今天")):
    return list(Dictionaries(before, after, words).find_changes(TEXTS))


def test_equal_dictionaries(load):
    assert changes(load(), load()) == []


def test_a_change_has_its_word_and_both_scores(load):
    before, after = load(), load()
    after.get_pipe("lex_matcher").add_rules([("天气", "force", "ORG"), ("上海", "force", "LOC")])
    [change] = changes(before, after)
    assert (change.number, change.text, change.start, change.end) == (1, "今天天气好", 2, 4)
    assert change.label == "ORG" and change.added and change.words == ("天气",)
    assert change.before < 0.5 and change.after == pytest.approx(1.0, abs=1e-9)


def test_an_entity_that_is_lost_in_every_text(load):
    before, after = load(), load()
    after.get_pipe("lex_matcher").add_rules([("南京", "forbid")])
    lost = changes(before, after)
    assert [change.number for change in lost if not change.added] == [0, 3]
    assert all(change.words == ("南京",) and change.after == 0.0 < change.before for change in lost if not change.added)


def test_a_word_that_does_not_matter_is_no_cause(load):
    """Both words occur in the text and are new; only one changes an entity."""
    before, after = load(), load()
    after.get_pipe("lex_matcher").add_rules([("今天", "force", "LOC"), ("天气", "forbid")])
    assert {change.words for change in changes(before, after) if change.added} == {("今天",)}


def test_the_pipelines_are_left_as_they_were(load):
    before, after = load(), load()
    after.get_pipe("lex_matcher").add_rules([("天气", "force", "ORG")])
    expected = find_entities(after, TEXTS)
    version = after.get_pipe("lex_matcher").version
    changes(before, after)
    assert find_entities(after, TEXTS) == expected and after.get_pipe("lex_matcher").version == version


def test_a_pipeline_without_a_dictionary(load):
    with pytest.raises(ValueError, match="no lex_matcher, only nothing"):
        Dictionaries(spacy.blank("zh"), load(), [])
