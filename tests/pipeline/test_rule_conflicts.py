import logging

import pytest
import spacy

from spacy_lexner.pipeline.extensions import install_conflicts_extension
from spacy_lexner.pipeline.rule_conflicts import MAX_TOLD, ConflictLog, get_conflicts, set_conflicts
from spacy_lexner.tagging.spans.word_rules import RuleConflict


def conflict(word="长江", reason="overlap", component="ner"):
    return RuleConflict(word, "force LOC", 0, 2, reason, "江大", component)


@pytest.fixture
def doc():
    return spacy.blank("zh")("长江大桥")


def test_each_component_has_its_own(doc):
    install_conflicts_extension()
    set_conflicts(doc, "ner", [conflict()])
    set_conflicts(doc, "words", [conflict("大桥", "tokens", "words")])
    assert doc._.lex_conflicts == [conflict(), conflict("大桥", "tokens", "words")]
    set_conflicts(doc, "ner", [])
    assert get_conflicts(doc) == [conflict("大桥", "tokens", "words")]
    again = spacy.tokens.Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert again._.lex_conflicts == doc._.lex_conflicts
    set_conflicts(doc, "words", [])
    assert doc._.lex_conflicts == [] and doc.user_data == {}


def test_each_word_is_told_once(caplog):
    log = ConflictLog(logging.getLogger("test"))
    for _ in range(3):
        log.tell([conflict(), conflict(reason="tokens"), conflict("大桥")])
    assert len(caplog.records) == 3
    for i in range(100):
        log.tell([conflict(f"词{i}")])
    assert len(caplog.records) == MAX_TOLD and caplog.records[-1].message.endswith("Further ones are told only there.")
