import pytest
import spacy

from spacy_lexner.candidates.lexicon_node import LexiconLink, RulesLink
from spacy_lexner.candidates.storage import find_candidates, renew_candidates, set_candidates
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.shared_matcher import REMEMBERED, SharedMatcher


def matcher(*words):
    return Matcher(Lexicon.from_entries(map(LexiconEntry, words)))


@pytest.fixture
def doc():
    return spacy.blank("zh")("南京市长江大桥")


def matched(doc, by):
    set_candidates(doc, by.version, find_candidates(by, [doc])[0])
    return doc


def test_vectors_need_a_lexicon_and_rules_do_not(doc):
    with pytest.raises(ValueError, match="no lexicon is linked to it"):
        LexiconLink().require()
    assert RulesLink().matchers([doc, doc]) == [None, None]
    with RulesLink().pinned():
        pass


def test_the_state_that_holds_for_a_doc(doc):
    link, first, second = RulesLink(), matcher("南京"), matcher("长江")
    link.source = SharedMatcher()
    assert link.matchers([doc]) == [None]
    link.source.set(first)
    assert link.matchers([doc]) == [first]
    matched(doc, first)
    link.source.set(second)
    assert link.matchers([doc]) == [first] and link.matchers([doc.copy()]) == [first]
    for i in range(REMEMBERED):
        link.source.set(matcher(f"词{i}"))
    assert link.matchers([doc]) == [link.source.matcher]


def test_within_pinned_nothing_changes(doc):
    link, first = RulesLink(), matcher("南京")
    link.source = SharedMatcher(first)
    with link.pinned():
        link.source.set(matcher("长江"))
        assert link.matchers([doc]) == [first]
    assert link.matchers([doc]) != [first]


def test_candidates_are_renewed_only_for_another_state(doc):
    first, second = matcher("南京"), matcher("长江")
    renew_candidates(doc, first)
    assert not doc.user_data, "no matcher has run on it"
    matched(doc, first)
    before = dict(doc.user_data)
    renew_candidates(doc, first)
    assert doc.user_data == before
    renew_candidates(doc, second)
    assert doc.user_data == matched(doc.copy(), second).user_data != before
