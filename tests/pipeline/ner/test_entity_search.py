"""The entities of `lex_ner` under rules about words, compared with all readings of a text by brute force."""

import logging

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from path_oracle import NEVER, Oracle
from small_ner import TEXTS, blank, examples, found, scores, train
from spacy.tokens import Doc, Span

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.pipeline.ner.entity_search import (
    Alternative,
    ReadEntity,
    check_bounds,
    get_alternatives,
    set_alternatives,
)
from spacy_lexner.pipeline.rule_follower import MAX_WARNINGS
from spacy_lexner.pipeline.units import UnitReader
from spacy_lexner.tagging.spans.span_rules import SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, TagSpan

TEXT = "张三在北京"
WORDS = sorted({TEXT[i:j] for i in range(5) for j in range(i + 1, 6)})
LABELS = ("LOC", "ORG", "PER")  # of the model
TAGGERS = {}


@pytest.fixture(autouse=True, scope="module")
def pipelines():
    for tagger in ("CRFTagger", "SoftmaxTagger"):
        TAGGERS[tagger] = nlp = blank(tagger, rule_labels=["SHIP"], n_alternatives=4, uncertain=[0.01, 0.99])
        nlp.add_pipe("lex_matcher", first=True).add_words(["甲乙"])
        train(nlp, steps=8)  # in doubt


def under(tagger, rules):
    """The pipeline with exactly these rules."""
    nlp = TAGGERS[tagger]
    nlp.get_pipe("lex_matcher").set_lexicon(Lexicon.from_entries([]))
    nlp.get_pipe("lex_matcher").add_rules(rules)
    return nlp


def oracle_of(nlp, doc, rules, kept=()):
    """All readings of a Doc, given the model's output."""
    pipe = nlp.get_pipe("lex_ner")
    emissions, transitions = pipe.model.predict([doc])
    allowed = pipe.scheme.constraint(np.zeros(len(doc), bool), kept)
    return Oracle(pipe.scheme, emissions[0].astype("f8"), np.array(transitions, "f8"), allowed, rules)


@st.composite
def dictionaries(draw):
    """Consistent rules about words, one for each word."""
    rules = {}
    for word in draw(st.lists(st.sampled_from(WORDS), max_size=4, unique=True)):
        mode = draw(st.sampled_from(["force", "forbid", "prefer"]))
        labels = {"force": [*LABELS, "SHIP", "ENTITY"], "forbid": ["", *LABELS], "prefer": [*LABELS, "ENTITY"]}
        label = draw(st.sampled_from(labels[mode]))
        weight = draw(st.sampled_from([-2.5, 1.0, 4.0])) if mode == "prefer" else 0.0
        rules[word] = (mode, label, weight)
    return rules


def spans_of(rules):
    """The same rules as constraints on spans."""
    forced, weights = [], {}
    for word, (mode, label, weight) in rules.items():
        start = TEXT.index(word)
        numbers = range(3) if label in ("", "ENTITY") else [(*LABELS, "SHIP").index(label)]
        for span in (TagSpan(start, start + len(word), number) for number in numbers):
            if mode == "force":
                forced.append(span)
            else:
                weights[span] = NEVER if mode == "forbid" else weight
    return SpanRules(tuple(forced), weights)


@pytest.mark.parametrize("tagger", ["CRFTagger", "SoftmaxTagger"])
@settings(max_examples=40)
@given(rules=dictionaries())
def test_against_all_readings(tagger, rules):
    nlp = under(tagger, [(word, *rule) for word, rule in rules.items()])
    doc = nlp(TEXT)
    names, decreed = (*LABELS, "SHIP"), spans_of(rules)
    oracle = oracle_of(nlp, doc, decreed)
    spans = tuple(TagSpan(ent.start, ent.end, names.index(ent.label_)) for ent in doc.ents)
    assert oracle.paths[spans] == pytest.approx(max(oracle.paths.values())), "the best one"
    assert scores(doc) == pytest.approx([oracle.probability(span) for span in spans])
    # The best few
    probabilities = {spans: np.exp(score - oracle.log_z) for spans, score in oracle.paths.items()}
    expected = sorted(probabilities.values(), reverse=True)[:4]
    readings = doc._.lex_alternatives
    assert [reading.probability for reading in readings] == pytest.approx(expected)
    for reading in readings:
        entities = tuple(TagSpan(ent.start_char, ent.end_char, names.index(ent.label)) for ent in reading.entities)
        assert probabilities[entities] == pytest.approx(reading.probability)
    # The spans in doubt
    every = {span for spans in oracle.paths for span in spans}
    likely = {span: oracle.probability(span) for span in every}
    group = doc.spans["lex_uncertain"]
    in_doubt = {
        TagSpan(span.start, span.end, names.index(span.label_)): p for span, p in zip(group, group.attrs["scores"])
    }
    assert in_doubt == pytest.approx({span: p for span, p in likely.items() if 0.01 <= p <= 0.99})
    # What was not obeyed
    lost = {span[:2] for span in decreed.forced} - {span[:2] for span in spans}
    assert [(c.start_char, c.end_char) for c in doc._.lex_conflicts] == sorted(lost)
    assert all(c.reason == "overlap" and c.winner in [ent.text for ent in doc.ents] for c in doc._.lex_conflicts)


@settings(max_examples=30)
@given(rules=dictionaries(), preset=st.tuples(st.integers(0, 3), st.integers(1, 2), st.sampled_from(LABELS)))
def test_what_a_doc_brings_along_wins(rules, preset):
    """The rest is what is most probable given it, under the rules that do not conflict with it."""
    nlp = under("CRFTagger", [(word, *rule) for word, rule in rules.items()])
    doc = nlp.make_doc(TEXT)
    start, length, label = preset
    kept = TagSpan(start, start + length, LABELS.index(label))
    doc.set_ents([Span(doc, start, start + length, label)], default="missing")
    doc = nlp.get_pipe("lex_ner")(nlp.get_pipe("lex_matcher")(doc))
    decreed = spans_of(rules)
    fulfilled = {s[:2] for s in decreed.forced if s == kept}
    forced = [s for s in decreed.forced if s[:2] in fulfilled or s.end <= kept.start or kept.end <= s.start]
    weights = {span: weight for span, weight in decreed.weights.items() if span != kept or weight > NEVER}
    oracle = oracle_of(nlp, doc, SpanRules(tuple(forced), weights), [kept])
    spans = tuple(TagSpan(ent.start, ent.end, (*LABELS, "SHIP").index(ent.label_)) for ent in doc.ents)
    assert kept in spans
    assert oracle.paths[spans] == pytest.approx(max(oracle.paths.values()))
    assert [score for score in scores(doc) if score is not None] == pytest.approx(
        [oracle.probability(span) for span in spans if span != kept]
    )
    against = [s for s in decreed.forced if s not in forced] + [s for s in decreed.weights if s not in weights]
    conflicts = [c for c in doc._.lex_conflicts if c.reason == "kept"]
    assert {(c.start_char, c.end_char) for c in conflicts} == {span[:2] for span in against}
    assert all(c.winner == TEXT[start : start + length] for c in conflicts)
    assert found(doc)[0:] == [(e.start_char, e.end_char, e.label) for e in doc._.lex_alternatives[0].entities]


def test_blocked_tokens_win():
    nlp = under("CRFTagger", [("北京", "force", "ORG")])
    doc = nlp.make_doc(TEXT)
    doc.set_ents([], blocked=[Span(doc, 4, 5)], default="missing")
    doc = nlp.get_pipe("lex_ner")(nlp.get_pipe("lex_matcher")(doc))
    assert not any(ent.end == 5 for ent in doc.ents)
    assert [c[:6] for c in doc._.lex_conflicts] == [("北京", "force ORG", 3, 5, "kept", "京")]


def test_with_overwrite_rules_win():
    nlp = blank(overwrite=True)
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京"])
    train(nlp, steps=1)
    nlp.get_pipe("lex_matcher").add_rules([("北京", "force", "ORG")])
    doc = nlp.make_doc(TEXT)
    doc.set_ents([Span(doc, 2, 5, "LOC")])
    nlp.get_pipe("lex_ner")(doc)
    assert (3, 5, "ORG") in found(doc) and doc._.lex_conflicts == []


def test_a_label_of_the_name_entity_is_a_label():
    nlp = blank(rule_labels=["ENTITY"])
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京"])
    train(nlp, steps=1)
    nlp.get_pipe("lex_matcher").add_rules([("北京", "force", "ENTITY")])
    assert (3, 5, "ENTITY") in found(nlp(TEXT))


def test_rules_of_several_docs_and_streams():
    nlp = under(
        "CRFTagger", [("北京", "force", "ORG"), ("上海", "forbid"), ("张", "force", "PER"), ("张三", "force", "LOC")]
    )
    texts = [text for text, _ in TEXTS] * 3 + ["", "\n"]
    alone = [nlp(text) for text in texts]
    for doc, other in zip(nlp.pipe(texts, batch_size=4), alone):
        assert found(doc) == found(other) and scores(doc) == pytest.approx(scores(other))
        assert doc._.lex_conflicts == other._.lex_conflicts
    assert (3, 5, "ORG") in found(alone[0]) and len(alone[0]._.lex_conflicts) == 1
    assert not any(ent.text == "上海" for doc in alone for ent in doc.ents)


def test_an_impossible_set_is_an_error_of_that_doc(caplog):
    """Rules given before it could be seen that they contradict each other."""
    nlp = blank()
    matcher = nlp.add_pipe("lex_matcher", first=True)
    matcher.add_rules([("北京", "force", "ORG"), ("北京", "forbid", "ORG"), ("上海", "forbid")])
    pipe = nlp.get_pipe("lex_ner")
    for label in LABELS:
        pipe.add_label(label)
    pipe.initialize(lambda: examples(nlp))  # alone: nothing checks the rules
    with pytest.raises(
        ValueError, match=r"lex_ner: no analysis of '张三在北京' follows.*'北京' has the rules forbid ORG, fo"
    ):
        nlp(TEXT)
    errors = []
    nlp.set_error_handler(lambda name, proc, docs, error: errors.append((docs, str(error))))
    texts = ["李四去南京", TEXT, "上海"]
    assert [doc.text for doc in nlp.pipe(texts)] == ["李四去南京", "上海"]
    [([doc], message)] = errors
    assert doc.text == TEXT and "'北京' has the rules" in message and "上海" not in message
    nlp._link_components()
    nlp("上海")
    assert "The rules of '北京' contradict each other (lex_ner): forbid ORG and force ORG" in caplog.text


@pytest.fixture
def on_tokens():
    """The pipeline with tokens as units."""
    pipe = TAGGERS["CRFTagger"].get_pipe("lex_ner")
    pipe._unit_reader = UnitReader(TAGGERS["CRFTagger"], pipe.model, "tokens")
    yield
    pipe._unit_reader = UnitReader(TAGGERS["CRFTagger"], pipe.model, "auto")


def test_tokens_that_do_not_fit(caplog, on_tokens):
    nlp = under("CRFTagger", [("三在", "force", "LOC"), ("张三", "force", "ORG")])
    doc = Doc(nlp.vocab, ["张三", "在", "北京"], spaces=[False] * 3)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            nlp(doc.copy())
        doc = nlp(doc)
    assert (0, 2, "ORG") in found(doc)
    assert [c[:6] for c in doc._.lex_conflicts] == [("三在", "force LOC", 1, 3, "tokens", "张三在")]
    assert caplog.text.count("'force LOC' of '三在' (characters 1 to 3) is not followed: it does not begin") == 1
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.lex_conflicts == doc._.lex_conflicts and again._.lex_alternatives == doc._.lex_alternatives


def test_warnings_come_to_an_end(caplog, on_tokens):
    nlp = under(
        "CRFTagger",
        [(f"{a}{b}", "force", "LOC") for a, b in zip("一二三四五六七八九十甲乙丙丁戊己庚辛壬癸子", "丑" * 21)],
    )
    pipe = nlp.get_pipe("lex_ner")
    pipe.rules._warned.clear()
    for a in "一二三四五六七八九十甲乙丙丁戊己庚辛壬癸子":
        doc = nlp(Doc(nlp.vocab, [f"{a}丑子"]))
        assert len(doc._.lex_conflicts) == 1
    assert len([r for r in caplog.records if "is not followed" in r.message]) == MAX_WARNINGS
    assert "There will be no further warnings." in caplog.records[-1].message


def test_words_inside_of_latin_words_and_numbers_are_no_occurrences():
    nlp = under("CRFTagger", [("AI", "force", "ORG"), ("5", "force", "LOC"), ("三A", "force", "PER")])
    doc = nlp("PAID AI, 15 5，三AI")
    assert [c for c in found(doc) if c[2] != "PER"] == [(5, 7, "ORG"), (12, 13, "LOC"), (15, 17, "ORG")]
    assert doc._.lex_conflicts == []


def test_a_new_label_of_the_model_wins_over_one_of_rules():
    nlp = under("CRFTagger", [("北京", "force", "SHIP")])
    pipe = nlp.get_pipe("lex_ner")
    assert pipe.labels == LABELS and pipe.rule_scheme.labels == (*LABELS, "SHIP")
    assert (3, 5, "SHIP") in found(nlp(TEXT))
    pipe.rule_labels = ("PER", "SHIP")
    assert pipe.rule_scheme.labels == (*LABELS, "SHIP") and (3, 5, "SHIP") in found(nlp(TEXT))


def test_training_does_not_know_of_rules():
    losses = []
    for rules in ([], [("张三", "forbid"), ("北京大学", "force", "LOC"), ("在", "prefer", "PER", 9)]):
        nlp = blank()
        nlp.add_pipe("lex_matcher", first=True).add_words(["张三"])
        train(nlp, steps=1)
        nlp.get_pipe("lex_matcher").add_rules(rules)
        losses.append(nlp.update(examples(nlp), sgd=False))
    assert losses[0] == losses[1]


@pytest.mark.parametrize("setting", [{"n_alternatives": -1}, {"uncertain": [0.9, 0.1]}, {"uncertain": [0, 0.5]}])
def test_bad_settings(setting):
    with pytest.raises(ValueError, match=f"{next(iter(setting))} is .*; expected"):
        blank(**setting)


def test_nothing_is_written_that_is_not_wanted():
    nlp = blank()
    train(nlp, steps=1)
    doc = nlp(TEXT)
    assert doc._.lex_alternatives == [] and "lex_uncertain" not in doc.spans and doc._.lex_conflicts == []
    assert not any(key[1] in ("lex_alternatives", "lex_conflicts") for key in doc.user_data)


def test_empty_docs_have_one_reading():
    nlp = under("CRFTagger", [])
    for doc in (nlp(""), *nlp.pipe(["", TEXT])):
        if not len(doc):
            assert [(reading.probability, reading.entities) for reading in doc._.lex_alternatives] == [(1.0, ())]
            assert len(doc.spans["lex_uncertain"]) == 0


def test_scheme_is_that_of_the_model():
    nlp = under("CRFTagger", [])
    assert nlp.get_pipe("lex_ner").scheme.labels == TagScheme(LABELS).labels


def test_alternatives_survive_bytes():
    nlp = spacy.blank("zh")
    doc = nlp("张三在北京")
    assert get_alternatives(doc) == []
    first = Alternative(0.75, -0.29, (ReadEntity(0, 2, "PER", "张三"), ReadEntity(3, 5, "LOC", "北京")))
    stored = [first, Alternative(0.25, -1.39, ())]
    set_alternatives(doc, stored)
    assert get_alternatives(doc) == get_alternatives(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == stored


@pytest.mark.parametrize("bounds", [[0.1], [0, 0.5], [0.6, 0.5], [0.5, 1.5], [0.1, 0.2, 0.3]])
def test_bounds_that_make_no_sense(bounds):
    with pytest.raises(ValueError, match="expected two probabilities"):
        check_bounds(bounds)


def test_bounds():
    assert check_bounds(None) is None and check_bounds([0.2, 1]) == (0.2, 1)
