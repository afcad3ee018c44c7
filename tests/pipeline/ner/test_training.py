"""What `lex_ner` learns from."""

import logging

import numpy as np
import pytest
from small_ner import SUMS, TEXTS, blank, examples, found, span, train
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam
from tolerance import tolerance

from spacy_lexner.pipeline.ner.gold_entities import MISALIGNED, TRIMMED
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

TEXT = TEXTS[0][0]


def test_annotation_that_is_missing_teaches_nothing(fresh):
    doc = fresh.make_doc("张三 在\n上海")
    gold = [Example(doc, fresh.make_doc(doc.text)), Example(fresh.make_doc(""), fresh.make_doc(""))]
    assert fresh.update(gold, sgd=False) == {"lex_ner": 0.0}
    model = fresh.get_pipe("lex_ner").model
    gradients, (emissions, _) = model.get_gradients(), model.predict([doc])
    rest = tolerance(len(doc) * SUMS, emissions, "float64")  # of probabilities that cancel
    assert gradients and all(np.abs(gradient).max() <= rest for _, gradient in gradients.values())


def test_part_of_the_annotation_is_enough():
    """Some texts have only names annotated, others only places; the rest is missing."""
    nlp = blank()
    gold = []
    for text, entities in TEXTS * 2:
        for start, end, label in entities or [(None, None, None)]:
            reference = nlp.make_doc(text)
            if label is None:
                reference.set_ents([], default="outside")
            else:
                outside = [span(reference, end, end + 1)] if end < len(reference) else []
                reference.set_ents([span(reference, start, end, label)], outside=outside, default="missing")
            gold.append(Example(nlp.make_doc(text), reference))
    train(nlp, gold, steps=40)
    for text, entities in TEXTS:
        assert set(entities) <= set(found(nlp(text)))


def test_gold_on_other_tokens(nlp):
    """Words in the reference, characters in the pipeline."""
    words = Doc(nlp.vocab, ["张三", "在", "北京大学", "工作"], spaces=[False] * 4)
    words.ents = [span(words, 0, 1, "PER"), span(words, 2, 3, "ORG")]
    gold = Example(nlp.make_doc(words.text), words)
    tags = nlp.get_pipe("lex_ner").gold(gold)
    assert nlp.get_pipe("lex_ner").scheme.decode(tags.argmax(1)) == [TagSpan(0, 2, 2), TagSpan(3, 7, 1)]
    assert tags.sum(1).tolist() == [1] * 9


def test_misaligned_gold_is_counted_told_and_harmless(caplog):
    nlp = blank(units="tokens")
    words = Doc(nlp.vocab, ["张", "三在", "北京", "大学"], spaces=[False] * 4)
    reference = nlp.make_doc(words.text)
    reference.ents = [span(reference, 0, 2, "PER"), span(reference, 3, 7, "ORG")]
    gold = [Example(words, reference), *examples(nlp)]
    with caplog.at_level(logging.WARNING):
        nlp.initialize(lambda: gold)
    report = nlp.get_pipe("lex_ner").gold_report
    assert report.total == 10 and report.problems == {MISALIGNED: 1}
    assert len(caplog.records) == 1
    assert "of 10 gold entities: 1 not on the boundaries" in caplog.text and "'张三' (PER)" in caplog.text
    tags = nlp.get_pipe("lex_ner").gold(gold[0])
    assert tags.all(1).tolist() == [True, True, False, False]
    assert np.isfinite(nlp.update(gold, sgd=Adam(0.001))["lex_ner"])


def test_gold_with_white_space_at_its_edges(caplog):
    nlp = blank()
    text = "\n张三\n\n去 \u3000 上海"
    reference = nlp.make_doc(text)
    assert [token.text for token in reference] == ["\n", "张", "三", "\n\n", "去", "\u3000 ", "上", "海"]
    reference.ents = [span(reference, 0, 4, "PER"), span(reference, 5, 6, "LOC"), span(reference, 6, 8, "LOC")]
    gold = [Example(nlp.make_doc(text), reference)]
    with caplog.at_level(logging.WARNING):
        losses = train(nlp, gold, steps=30)
    assert nlp.get_pipe("lex_ner").gold_report.problems == {TRIMMED: 2}
    assert "2 with white space at an edge" in caplog.text
    assert np.isfinite(losses["lex_ner"])
    assert [ent.text for ent in nlp(text).ents] == ["张三", "上海"]


def with_wrong_spans(nlp, key, *wrong):
    reference = nlp.make_doc(TEXT)
    reference.spans[key] = [span(reference, *triple) for triple in wrong]
    return Example(nlp.make_doc(TEXT), reference)


def test_incorrect_spans_are_unlearned():
    nlp = blank(incorrect_spans_key="wrong")
    optimizer = None
    train(nlp)
    optimizer = nlp.resume_training()
    assert (0, 2, "PER") in found(nlp(TEXT))
    wrong = with_wrong_spans(nlp, "wrong", (0, 2, "PER"), (0, 2, "EVENT"), (3, 7, "PER"))
    first = nlp.update([wrong], sgd=False)["lex_ner"]
    assert first > 2  # -log(1 - p) of a span that is nearly certain
    for _ in range(40):
        last = nlp.update([wrong], sgd=optimizer)["lex_ner"]
    assert last < 0.1
    assert (0, 2, "PER") not in found(nlp(TEXT)) and (3, 7, "ORG") in found(nlp(TEXT))


def test_incorrect_spans_are_exact():
    nlp = blank(incorrect_spans_key="wrong")
    train(nlp, steps=5)
    pipe = nlp.get_pipe("lex_ner")
    wrong = with_wrong_spans(nlp, "wrong", (0, 2, "PER"), (0, 2, "PER"), (2, 5, "LOC"))
    outputs = pipe.model.predict([wrong.predicted])
    allowed = [pipe.training_constraint(wrong.predicted)]
    per, loc = (pipe.labels.index(label) for label in ("PER", "LOC"))
    p = pipe.model.attrs["head"].search(outputs, allowed).span_scores([[TagSpan(0, 2, per), TagSpan(2, 5, loc)]])[0]
    assert pipe.get_loss([wrong], outputs)[0] == pytest.approx(-2 * np.log(1 - p[0]) - np.log(1 - p[1]))


def test_a_span_cannot_be_both(fresh):
    nlp = blank(incorrect_spans_key="wrong")
    train(nlp, steps=1)
    wrong = with_wrong_spans(nlp, "wrong", (0, 2, "PER"))
    wrong.reference.ents = [span(wrong.reference, 0, 2, "PER")]
    with pytest.raises(ValueError, match="E868"):
        nlp.update([wrong])
