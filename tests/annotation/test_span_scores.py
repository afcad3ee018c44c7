import pytest
import spacy
from small_ner import TEXTS, blank, train
from spacy.tokens import Doc, Span, SpanGroup

from spacy_lexner.annotation.span_scores import LIKELY, score_texts
from spacy_lexner.visualize.lattice import Mark


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


def test_exact_probabilities_of_any_span(nlp):
    text = TEXTS[0][0]
    asked = [Mark(0, 2, "PER"), Mark(0, 3, "PER"), Mark(3, 7, "ORG")]
    [(_, scored)] = score_texts(nlp, [text], [asked], {})
    doc = nlp(text)
    assert [mark[:3] for mark in scored.asked] == [mark[:3] for mark in asked]
    by_place = {(ent.start_char, ent.end_char, ent.label_): ent._.lex_score for ent in doc.ents}
    assert scored.asked[0].score == pytest.approx(by_place[0, 2, "PER"])
    assert 0 < scored.asked[1].score < 0.5
    assert {mark[:3] for mark in scored.likely} == {place for place, p in by_place.items() if p >= LIKELY}
    assert nlp.get_pipe("lex_ner").uncertain is None


def test_a_text_that_fails_is_left_out(nlp):
    failed = {}
    found = list(score_texts(nlp, ["张三", 3, "李四"], [[], [], []], failed))
    assert [number for number, _ in found] == [0, 2] and set(failed) == {1}


@spacy.Language.component("test_span_scores_ents")
def set_ents(doc: Doc) -> Doc:
    doc.ents = [Span(doc, 0, 2, "PER")]
    return doc


@spacy.Language.component("test_span_scores_spans")
def set_spans(doc: Doc) -> Doc:
    doc.spans["sc"] = SpanGroup(
        doc, spans=[Span(doc, 0, 2, "PER"), Span(doc, 0, 1, "PER")], attrs={"scores": [0.7, 0.2]}
    )
    return doc


@pytest.mark.parametrize("component, scores", [("ents", [1.0, 0.0]), ("spans", [0.7, 0.2])])
def test_other_pipelines(component, scores):
    other = spacy.blank("zh")
    other.add_pipe(f"test_span_scores_{component}")
    [(_, scored)] = score_texts(other, ["张三来"], [[Mark(0, 2, "PER"), Mark(0, 1, "PER")]], {})
    assert [mark.score for mark in scored.asked] == scores
    assert [mark[:3] for mark in scored.likely] == [(0, 2, "PER")]


def test_spans_with_unknown_labels_have_no_score(nlp):
    [(_, scored)] = score_texts(nlp, [TEXTS[0][0]], [[Mark(0, 2, "PER"), Mark(0, 2, "COLOUR")]], {})
    assert scored.asked[0].score > 0 and scored.asked[1] == Mark(0, 2, "COLOUR")


@spacy.Language.component("test_span_scores_more_spans")
def set_more_spans(doc: Doc) -> Doc:
    for key, score in (("a", 0.4), ("b", 0.6)):
        doc.spans[key] = SpanGroup(doc, spans=[Span(doc, 0, 2, "PER")], attrs={"scores": [score]})
    return doc


def test_every_group_with_scores_counts_each_span_once():
    other = spacy.blank("zh")
    other.add_pipe("test_span_scores_more_spans")
    [(_, scored)] = score_texts(other, ["张三来"], [[Mark(0, 2, "PER")]], {})
    assert scored.asked == scored.likely == [Mark(0, 2, "PER", 0.6)]
