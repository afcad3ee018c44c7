import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_lexner.pipeline.ner.gold_entities import MAX_SHOWN, GoldReport, biluo, gold_tags


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


def test_report(vocab):
    report = GoldReport()
    assert report.message is None
    report.add(make_example(vocab, list("张三在上海"), list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")]))
    report.add(make_example(vocab, list("张三在上海"), ["张三", "在", "上海"], [(0, 1, "PER"), (2, 3, "LOC")]))
    assert (report.entities, report.misaligned, report.trimmed, report.message) == (4, 0, 0, None)
    for _ in range(4):
        report.add(make_example(vocab, ["张", "三在", "上海"], list("张三在上海"), [(0, 2, "PER"), (3, 5, "LOC")]))
        report.add(make_example(vocab, ["张三", "\n"], ["张三", "\n"], [(0, 2, "PER")]))
    assert (report.entities, report.misaligned, report.trimmed) == (16, 4, 4)
    assert len(report.shown) == MAX_SHOWN
    assert "of 16 gold entities, 4 are not on the boundaries" in report.message
    assert "'张三' (PER) in '张三在上海': not on token boundaries" in report.message


def test_overlapping_alignment_loses_nothing(vocab):
    """One predicted token holds two entities: both are counted."""
    report = GoldReport()
    report.add(make_example(vocab, ["张三李四"], list("张三李四"), [(0, 2, "PER"), (2, 4, "PER")]))
    assert (report.entities, report.misaligned) == (2, 2)
