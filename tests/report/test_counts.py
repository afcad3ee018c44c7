import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lexner.report.counts import ALL, SEEN, UNSEEN, annotated, count, scores
from spacy_lexner.report.gold import GoldText, to_gold
from spacy_lexner.visualize.lattice import Mark, read_marks


def test_counts(gold):
    predicted = [[Mark(0, 2, "PER"), Mark(3, 5, "GPE")], [Mark(3, 5, "GPE")], [], [], [Mark(1, 3, "GPE")], []]
    counts = count(gold, predicted, {"王明", "南京"})
    assert counts.columns == [ALL, ("label", "GPE"), ("label", "ORG"), ("label", "PER"), SEEN, UNSEEN]
    assert counts.labels == ["GPE", "ORG", "PER"]
    assert counts.values[0].tolist() == [[2, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0]]
    assert counts.total() == [2, 2, 4]
    assert counts.total(("label", "GPE")) == [1, 2, 1]
    assert (counts.total(SEEN), counts.total(UNSEEN)) == ([2, 1, 0], [0, 1, 4])


def test_without_training(gold):
    counts = count(gold, [[]] * len(gold))
    assert SEEN not in counts.columns and counts.total() == [0, 0, 6]


def test_labels_that_are_called_like_groups():
    counts = count([GoldText("一二", [Mark(0, 1, "seen"), Mark(1, 2, "all")], [])], [[]], set())
    assert counts.total(SEEN) == [0, 0, 0] and counts.total(("label", "seen")) == [0, 0, 1]


def test_what_is_unknown_does_not_count():
    text = GoldText("一二三四五", [Mark(0, 1, "X")], [(2, 4)])
    marks = [Mark(0, 1, "X"), Mark(1, 3, "X"), Mark(3, 5, "X"), Mark(4, 5, "X"), Mark(1, 2, "X")]
    assert annotated(text, marks) == [marks[0], marks[3], marks[4]]


def test_scores():
    assert scores(3, 1, 2) == {"p": 0.75, "r": 0.6, "f": pytest.approx(2 / 3)}
    assert scores(0, 0, 0) == {"p": None, "r": None, "f": None}
    assert scores(0, 0, 2) == {"p": None, "r": 0.0, "f": 0.0}


VOCAB = Vocab()
TAGS = st.lists(st.sampled_from(["A", "B", "", "?"]), min_size=1, max_size=8)


def make_doc(tags, missing=False):
    """A Doc with an entity on each token with a label; ? is unknown, or nothing."""
    doc = Doc(VOCAB, words=list("一二三四五六七八"[: len(tags)]), spaces=[False] * len(tags))
    ents = [Span(doc, i, i + 1, tag) for i, tag in enumerate(tags) if tag in "AB" and tag]
    unknown = [Span(doc, i, i + 1) for i, tag in enumerate(tags) if tag == "?" and missing]
    doc.set_ents(ents, missing=unknown, default="outside")
    return doc


@given(st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=4))
def test_as_spacy_scores(pairs):
    docs = [(make_doc(a, missing=True), make_doc((b + [""] * 8)[: len(a)])) for a, b in pairs]
    counts = count([to_gold(doc) for doc, _ in docs], [read_marks(found.ents) for _, found in docs])
    expected = get_ner_prf([Example(found, doc) for doc, found in docs])
    known = any(doc.has_annotation("ENT_IOB") for doc, _ in docs)
    ours = scores(*counts.total())
    for key in "prf":
        assert (ours[key] or 0.0) == pytest.approx(expected[f"ents_{key}"] or 0.0) or not known
    for label, figures in (expected["ents_per_type"] or {}).items():
        for key, value in scores(*counts.total(("label", label))).items():
            assert (value or 0.0) == pytest.approx(figures[key])


def test_tokens_of_another_kind_are_no_matter():
    gold = to_gold(make_doc(["A", "", "B"]))
    doc = spacy.blank("en")("一二三")
    assert len(doc) == 1 and count([gold], [read_marks(doc.ents)]).total() == [0, 0, 2]
