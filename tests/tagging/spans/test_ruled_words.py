import pytest
import spacy
from spacy.tokens import Doc

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.rules import Rule, RuleReader
from spacy_lexner.tagging.spans.ruled_words import RuledWord, find_ruled_words

FORCE, FORBID, OTHER = Rule("force", "LOC"), Rule("forbid"), Rule("force", "WORD")
READER = RuleReader("lex_ner", frozenset(["LOC"]), frozenset(["forbid"]))


def matcher(**rules):
    return Matcher(Lexicon.from_entries(LexiconEntry(word, rules=own) for word, own in rules.items()))


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("zh")


def test_only_what_concerns_the_component(nlp):
    state = matcher(长江=(FORCE, OTHER), 大桥=(OTHER,), 江=(FORBID,), 长=())
    words = find_ruled_words([nlp.make_doc("长江大桥")], [state], READER)
    assert words == [[RuledWord(0, 2, 0, 2, True, "长江", (FORCE,)), RuledWord(1, 2, 1, 2, True, "江", (FORBID,))]]


def test_each_doc_in_its_own_state(nlp):
    docs = [nlp.make_doc(text) for text in ("长江", "大桥", "长江", "")]
    first, second = matcher(长江=(FORCE,)), matcher(长江=(FORBID,), 大桥=(FORCE,))
    words = find_ruled_words(docs, [first, second, second, first], READER)
    assert [[(word.word, word.rules) for word in found] for found in words] == [
        [("长江", (FORCE,))],
        [("大桥", (FORCE,))],
        [("长江", (FORBID,))],
        [],
    ]
    assert find_ruled_words(docs, [None] * 4, READER) == [[]] * 4


def test_words_that_cross_tokens(nlp):
    doc = Doc(nlp.vocab, words=["南京市", "长江", "大桥", "\n", "长江"], spaces=[False] * 5)
    words = find_ruled_words([doc], [matcher(南京=(FORCE,), 市长=(FORCE,), 长江大桥=(FORCE,), 长江=(FORCE,))], READER)
    assert [word[:6] for word in words[0]] == [
        (0, 2, 0, 1, False, "南京"),
        (2, 4, 0, 2, False, "市长"),
        (3, 5, 1, 2, True, "长江"),
        (3, 7, 1, 3, True, "长江大桥"),
        (8, 10, 4, 5, True, "长江"),
    ]
