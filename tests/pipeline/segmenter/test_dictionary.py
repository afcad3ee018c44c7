"""Words of the user's dictionary, which `lex_segmenter` follows."""

import copy
import pickle

import pytest
import spacy
from small_segmenter import PLAIN, TEXTS, blank, examples, parts, steer, train, words
from spacy.tokens import Span


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


def with_dictionary(rules, **config):
    nlp = blank(**config)
    nlp.add_pipe("lex_matcher", first=True).add_rules(rules)
    return nlp


def test_forced_words_are_never_cut():
    nlp = with_dictionary([("爱北京", "force"), ("三千", "force")])
    gold = examples(nlp)
    train(nlp, gold)
    assert words(nlp(PLAIN[0])) == "我 爱北京 天安门"
    assert nlp(PLAIN[0])._.lex_segmentation["forced_words"] == 1
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    assert words(nlp("我爱北京三千三")) == "我 爱北京 三千 三", "whatever the model says"
    matcher.add_rules([("我爱", "force"), ("京三",)])
    doc = nlp("我爱北京三千三")
    assert words(doc) == "我爱 北 京 三千 三", "what has most single characters"
    assert doc._.lex_segmentation["forced_words"] == 2 and doc._.lex_segmentation["refused_words"] == 1
    assert [c[:6] for c in doc._.lex_conflicts] == [("爱北京", "force", 1, 4, "overlap", "我爱")]
    matcher.remove_words(["我爱"])
    assert words(nlp("我爱北京三千三")) == "我 爱北京 三千 三"
    matcher.add_rules([("爱北京", "hint")])
    assert words(nlp("我爱北京")) == "我 爱 北 京"


def test_forced_words_with_a_space_are_refused():
    nlp = with_dictionary([("北 京", "force")])
    train(nlp)
    doc = nlp("爱北 京")
    assert words(doc).split()[-1] == "京" and [c.word for c in doc._.lex_conflicts] == ["北 京"]


def test_rules_with_parts_of_speech():
    nlp = with_dictionary([("甲乙", "force")])
    train(nlp)
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    matcher.add_rules(
        [("北京", "force", "PROPN"), ("爱", "forbid", "NOUN"), ("天", "forbid", "WORD"), ("我", "force", "WORD")]
    )
    doc = nlp("我爱北京天安")
    assert words(doc) == "我 爱 北京 天安" and parts(doc).split()[0] == "NOUN" and parts(doc).split()[2] == "PROPN"
    assert parts(doc).split()[1] != "NOUN" and doc._.lex_conflicts == []
    with pytest.raises(ValueError, match=r"applies to no component: lex_segmenter has the labels .*, and WORD for any"):
        matcher.add_rules([("北京", "force", "PLACE")])
    with pytest.raises(ValueError, match=r"contradict each other \(lex_segmenter\): forbid WORD and force PROPN"):
        matcher.add_rules([("北京", "force", "PROPN"), ("北京", "forbid", "WORD")])


def test_a_preferred_word():
    nlp = with_dictionary([("爱北", "prefer", "", 0.5)])
    train(nlp)
    pipe, matcher = nlp.get_pipe("lex_segmenter"), nlp.get_pipe("lex_matcher")
    steer(pipe, "S-NOUN")
    assert words(nlp("我爱北京")) == "我 爱 北 京"
    matcher.add_rules([("爱北", "prefer", "", 500.0)])
    assert words(nlp("我爱北京")) == "我 爱北 京"
    matcher.add_rules([("爱北", "prefer", "VERB", 500.0)])
    doc = nlp("我爱北京")
    assert words(doc) == "我 爱北 京" and doc[1].pos_ == "VERB"
    matcher.add_rules([("爱", "prefer", "WORD", -500.0), ("爱北", "hint")])
    assert " 爱 " not in f" {words(nlp('我爱北京'))} "


def test_entities_win_over_forced_words():
    nlp = with_dictionary([("南京市长", "force"), ("南京市长江大桥", "force")])
    train(nlp)
    doc = nlp.make_doc(PLAIN[1])
    doc.ents = [Span(doc, 0, 3, label="GPE")]
    segmented = nlp(doc)
    assert [ent.text for ent in segmented.ents] == ["南京市"] and segmented.text == PLAIN[1]
    assert segmented._.lex_segmentation["refused_words"] == 2
    assert {(c.word, c.reason, c.winner) for c in segmented._.lex_conflicts} == {
        ("南京市长", "kept", "南京市|长"),
        ("南京市长江大桥", "kept", "南京市|长江大桥"),
    }
    free = nlp(PLAIN[1])
    assert free._.lex_segmentation["refused_words"] == free._.lex_segmentation["forced_words"] == 1
    assert words(free).startswith(("南京市长江大桥 ", "南京市长 "))


def test_what_must_be_a_word_cannot_be_forbidden():
    nlp = with_dictionary([("我", "forbid", "WORD"), ("北京", "forbid", "WORD")])
    train(nlp)
    doc = nlp("我 北京")
    assert words(doc) == "我 北 京" and [c[:6] for c in doc._.lex_conflicts] == [
        ("我", "forbid WORD", 0, 1, "kept", "我")
    ]


def test_an_impossible_set_is_an_error_of_that_doc():
    nlp = with_dictionary([("北", "forbid", "WORD"), ("京", "forbid", "WORD"), ("北京", "forbid", "WORD")])
    train(nlp)
    errors = []
    nlp.set_error_handler(lambda name, proc, docs, error: errors.append((docs[0].text, str(error))))
    assert [doc.text for doc in nlp.pipe(["我 北京 爱", PLAIN[2], "北京爱"])] == [PLAIN[2], "北京爱"]
    [(text, message)] = errors
    assert (
        text == "我 北京 爱" and "lex_segmenter: no analysis of" in message and "'北京' has the rules forbid" in message
    )


def test_without_a_lexicon_there_are_no_rules(nlp):
    assert words(nlp(PLAIN[0])) == TEXTS[0][0] and nlp(PLAIN[0])._.lex_conflicts == []


def test_dictionary_survives(tmp_path):
    nlp = with_dictionary([("爱北京", "force")])
    train(nlp)
    nlp.to_disk(tmp_path / "model")
    for again in (spacy.load(tmp_path / "model"), copy.deepcopy(nlp), pickle.loads(pickle.dumps(nlp))):
        assert words(again(PLAIN[0])) == "我 爱北京 天安门"
