import math

import pytest
import spacy
from spacy.training import Example

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.rules.changes import last_matcher
from spacy_lexner.rules.suggest import MIN_GAIN, Reading, most_probable, read, suggest, with_word

GOLD = [
    ("武汉市长江大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("济南市黄河大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("我在济南市", [(2, 5, "GPE")]),
    ("市长在武汉市", [(3, 6, "GPE")]),
]
TEXTS = ["南京市钱江大桥很长", "宁波市长来了", "钱江大桥在杭州市", "我在宁波市", "没有人"]


@pytest.fixture(scope="module")
def nlp():
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["武汉市", "济南市", "长江大桥", "黄河大桥", "市长"])
    nlp.add_pipe("lex_ner")
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in GOLD]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(15):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_gains_are_measured_with_the_word_put_in(nlp):
    before = last_matcher(nlp).version
    found = suggest(nlp, TEXTS)
    assert found and last_matcher(nlp).version == before
    assert [each.gain for each in found] == sorted((each.gain for each in found), reverse=True)
    for each in found:
        assert each.word not in last_matcher(nlp).lexicon and each.word in each.example
        assert each.label in ("", "GPE", "LOC")
        own = [text for text, reading in zip(TEXTS, read(nlp, TEXTS)) if each.word in reading.doubtful]
        assert len(own) == each.n_texts
        old = sum(reading.entropy for reading in read(nlp, own))
        with with_word(nlp, each.word):
            assert each.word in last_matcher(nlp).lexicon
            new = sum(reading.entropy for reading in read(nlp, own))
            # Batches differ, and scores are in single precision.
        assert each.gain == pytest.approx(old - new, abs=MIN_GAIN / 10) and each.gain >= MIN_GAIN
    assert suggest(nlp, TEXTS, 1) == found[:1]


def test_entropy_is_that_of_the_spans(nlp):
    for text, reading in zip(TEXTS, read(nlp, TEXTS)):
        expected = 0.0
        for *_, p in reading.spans:
            expected -= sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)
        assert reading.entropy == pytest.approx(expected) and all(span in text for span, *_ in reading.spans)


def test_what_a_word_most_probably_is():
    sure = Reading(1.0, set(), [("钱江", "LOC", 0.8), ("钱", "GPE", 0.9)])
    readings = [sure, Reading(0.0, set(), [("钱江", "GPE", 0.1)])]
    assert most_probable("钱江", readings, 2) == ("", pytest.approx(0.55))
    assert most_probable("钱江", readings[:1], 1) == ("LOC", pytest.approx(0.8))
    assert most_probable("江", readings, 2) == ("", 1.0)


def test_a_word_that_occurs_twice_in_a_text_is_no_surer():
    reading = Reading(1.0, set(), [("钱江", "LOC", 0.4), ("钱江", "LOC", 0.4)])
    assert most_probable("钱江", [reading], 2) == ("", pytest.approx(0.6))


def test_an_encoder_that_reads_no_words(load):
    assert suggest(load(), ["赵六去天津", "钱七在苏州"]) == []


def test_no_lex_ner():
    with pytest.raises(ValueError, match="no lex_matcher"):
        suggest(spacy.blank("zh"), TEXTS)


def test_only_words_that_a_dictionary_file_can_hold(nlp, monkeypatch):
    found = suggest(nlp, TEXTS)[0]
    monkeypatch.setattr("spacy_lexner.lexicon.rule_file.COMMENT", found.word)  # as if it began like a comment
    assert found.word not in [each.word for each in suggest(nlp, TEXTS)]


def test_only_words_that_the_lexicon_can_hold(nlp):
    matcher, long = last_matcher(nlp), {each.word for each in suggest(nlp, TEXTS) if len(each.word) > 2}
    before = matcher.lexicon
    matcher.set_lexicon(Lexicon.from_entries(before.entries(), max_word_length=2))
    try:
        assert long and all(len(each.word) == 2 for each in suggest(nlp, TEXTS))
    finally:
        matcher.set_lexicon(before)
