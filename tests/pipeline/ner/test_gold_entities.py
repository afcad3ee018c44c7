import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_lexner.pipeline.gold_report import MAX_SHOWN
from spacy_lexner.pipeline.ner.gold_entities import (
    CONSEQUENCES,
    MISALIGNED,
    TRIMMED,
    biluo,
    gold_tags,
    narrow,
    survey_entities,
)
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, UnknownLabelError


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("zh").vocab


def make_example(vocab, predicted, reference, entities, default="outside"):
    """Words of the predicted and of the annotated Doc, and entities as words of the latter."""
    docs = [Doc(vocab, words, spaces=[False] * len(words)) for words in (predicted, reference)]
    docs[1].set_ents([Span(docs[1], start, end, label=label) for start, end, label in entities], default=default)
    return Example(*docs)


@pytest.mark.parametrize("n, expected", [(0, []), (1, ["U-X"]), (2, ["B-X", "L-X"]), (4, ["B-X", "I-X", "I-X", "L-X"])])
def test_biluo(n, expected):
    assert biluo(n, "X") == expected


def test_same_tokens(vocab):
    example = make_example(vocab, list("张三在上海"), list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")])
    assert gold_tags(example) == ["B-PER", "L-PER", "O", "B-LOC", "L-LOC"]


def test_missing(vocab):
    example = make_example(vocab, list("张三在上海"), list("张三在上海"), [(0, 2, "PER")], default="missing")
    assert gold_tags(example) == ["B-PER", "L-PER", None, None, None]
    example = make_example(vocab, list("张三"), list("张三"), [], default="missing")
    assert gold_tags(example) == [None, None]


def test_misaligned_tokens_count_as_missing(vocab):
    example = make_example(vocab, ["张", "三在", "上海"], list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")])
    assert gold_tags(example) == [None, None, "U-LOC"]


def test_trimmed(vocab):
    words = ["\n", "张", "\t", "三", "  ", "在"]
    example = make_example(vocab, words, words, [(0, 5, "PER")])
    assert gold_tags(example) == ["O", "B-PER", "I-PER", "L-PER", "O", "O"]
    example = make_example(vocab, words, words, [(4, 5, "PER")])
    assert gold_tags(example) == ["O"] * 6


def narrowed(example, labels=("PER", "LOC")):
    """The tags that each token may have; "any" stands for all."""
    scheme = TagScheme(labels)
    gold = scheme.gold(gold_tags(example))
    narrow(gold, example, scheme)
    return ["any" if row.all() else " ".join(np.array(scheme.tags)[row]) for row in gold]


def test_an_entity_with_one_of_several_labels(vocab):
    example = make_example(vocab, list("张三在上海"), list("张三在上海"), [(0, 2, "PER")], default="missing")
    doc = example.reference
    doc.spans["lex_one_of"] = [Span(doc, 3, 5, label=label) for label in ("LOC", "PER")]
    assert narrowed(example) == ["B-PER", "E-PER", "any", "B-PER B-LOC", "E-PER E-LOC"]
    assert survey_entities([example])[0] == {"PER", "LOC"}
    with pytest.raises(UnknownLabelError, match="LOC"):
        narrowed(example, ("PER",))


def test_a_possible_entity(vocab):
    example = make_example(vocab, list("张三在上海"), ["张三", "在", "上海"], [], default="missing")
    doc = example.reference
    doc.spans["lex_possible"] = [
        Span(doc, 0, 1, label="PER"),
        Span(doc, 1, 3, label="LOC"),
        Span(doc, 2, 3, label="LOC"),
    ]
    either = ["O B-LOC", "O B-LOC I-LOC", "O E-LOC"]
    assert narrowed(example) == ["O B-PER", "O E-PER", *either]
    doc.set_ents([Span(doc, 2, 3, label="LOC")], default="missing")
    assert narrowed(example) == ["O B-PER", "O E-PER", "any", "B-LOC", "E-LOC"]  # annotation wins


def test_report(vocab):
    good = make_example(vocab, list("张三在上海"), list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")])
    words = make_example(vocab, list("张三在上海"), ["张三", "在", "上海"], [(0, 1, "PER"), (2, 3, "LOC")])
    labels, report = survey_entities([good, words])
    assert labels == {"PER", "LOC"} and report.total == 4 and report.message("entities", CONSEQUENCES) is None
    misaligned = make_example(vocab, ["张", "三在", "上海"], list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")])
    trimmed = make_example(vocab, ["张三", "\n"], ["张三", "\n"], [(0, 2, "PER")])
    _, report = survey_entities([good, words, *[misaligned, trimmed] * 4])
    assert report.total == 16 and report.problems == {MISALIGNED: 4, TRIMMED: 4}
    assert len(report.shown) == MAX_SHOWN
    message = report.message("entities", CONSEQUENCES)
    assert message.startswith(
        "of 16 gold entities: 4 not on the boundaries of the tokenizer's tokens (their tokens count as"
    )
    assert "'张三' (PER) in '张三在上海': not on the boundaries" in message


def test_overlapping_alignment_loses_nothing(vocab):
    """One predicted token holds two entities: both are counted."""
    example = make_example(vocab, ["张三李四"], list("张三李四"), [(0, 2, "PER"), (2, 4, "PER")])
    _, report = survey_entities([example])
    assert report.total == report.problems[MISALIGNED] == 2
