import pytest

from spacy_lexner.annotation.errors import (
    COPIES,
    count_unannotated,
    count_unjudged,
    find_errors,
    propose,
    spans_of_copies,
)
from spacy_lexner.annotation.span_scores import ScoredText
from spacy_lexner.report.gold import GoldText
from spacy_lexner.visualize.lattice import Mark

TEXT = "张三在北京大学工作"
PER, ORG = Mark(0, 2, "PER"), Mark(3, 7, "ORG")
OTHER = GoldText("王伟的家在武汉", [Mark(0, 2, "PER"), Mark(0, 3, "ORG"), Mark(5, 7, "LOC")], [])  # has all labels


def text(*marks, unknown=()):
    return GoldText(TEXT, list(marks), list(unknown))


def scored(asked, likely):
    return ScoredText([mark._replace(score=p) for mark, p in asked], [mark._replace(score=p) for mark, p in likely])


def kinds(gold, *scores):
    return [
        (each.number, each.kind, pytest.approx(each.probability))
        for each in find_errors([*gold, OTHER], [*scores, None])
    ]


def test_good_annotation_has_no_errors():
    assert kinds([text(PER, ORG)], scored([(PER, 0.9), (ORG, 0.6)], [(PER, 0.9), (ORG, 0.6)])) == []


@pytest.mark.parametrize(
    "asked, likely, kind, probability",
    [
        ([(ORG, 0.1)], [(Mark(3, 7, "LOC"), 0.8)], "type", 0.1),
        ([(ORG, 0.1)], [(Mark(3, 5, "ORG"), 0.8)], "boundary", 0.1),
        ([(ORG, 0.1)], [(Mark(3, 5, "LOC"), 0.8)], "type and boundary", 0.1),
        ([(ORG, 0.1)], [], "invented", 0.1),
        ([], [(ORG, 0.8)], "missing", 0.2),
    ],
)
def test_kinds(asked, likely, kind, probability):
    assert kinds([text(*(mark for mark, _ in asked))], scored(asked, likely)) == [(0, kind, pytest.approx(probability))]


def test_the_least_probable_annotation_comes_first():
    gold = [text(ORG), text(PER), text()]
    gold = [each._replace(text=f"{TEXT}{i}") for i, each in enumerate(gold)]
    scores = [scored([(ORG, 0.2)], []), scored([(PER, 0.01)], []), scored([], [(ORG, 0.9)])]
    assert [number for number, *_ in kinds(gold, *scores)] == [1, 2, 0]


def test_what_is_not_annotated_is_no_error():
    assert kinds([text(unknown=[(2, 8)])], scored([], [(ORG, 0.99)])) == []


def test_labels_that_no_text_is_annotated_with_are_not_missing():
    gold, likely = [text(PER)], [(PER, 0.9), (ORG, 0.8), (Mark(7, 9, "ORG"), 0.9), (Mark(4, 5, "LOC"), 0.6)]
    scores = [scored([(PER, 0.9)], likely)]
    assert find_errors(gold, scores) == []
    assert count_unannotated(gold, scores) == {"LOC": 1, "ORG": 2} and count_unannotated(gold, [None]) == {}


def test_texts_without_scores_are_left_out():
    assert kinds([text(ORG)], None) == []


def test_copies_that_differ():
    gold = [text(PER, ORG), text(PER)]
    assert spans_of_copies(gold) == [[PER, ORG], [PER, ORG]]
    both = [(PER, 0.9), (ORG, 0.6)]
    found = kinds(gold, scored(both, both), scored(both, both))
    # The first copy has what the model expects, and half of the copies; the second lacks it.
    assert found == [(1, "missing", pytest.approx(0.4 * 0.5)), (0, "copies differ", pytest.approx(0.6 * 0.5))]


def test_copies_that_differ_where_the_model_is_of_no_help():
    gold = [text(ORG), text()]
    asked = [(ORG, 0.3)]
    found = kinds(gold, scored(asked, []), scored(asked, []))
    assert found == [(0, "invented", pytest.approx(0.15)), (1, "copies differ", pytest.approx(0.35))]


def test_a_proposal_puts_errors_right():
    other = Mark(3, 5, "LOC", 0.8)
    own = text(PER, ORG)
    findings = find_errors([own, OTHER], [scored([(PER, 0.9), (ORG, 0.1)], [(PER, 0.9), (other, 0.8)]), None])
    assert propose(own, findings) == [PER, other]
    assert findings[0].to_json(TEXT)["proposed"]["text"] == "北京"


@pytest.mark.parametrize("probability, right", [(0.95, [ORG]), (0.1, [])])
@pytest.mark.parametrize("n_annotated", [1, 3])
def test_drafts_of_copies_that_differ_agree(probability, right, n_annotated):
    gold = [text(ORG)] * n_annotated + [text()] * (4 - n_annotated)
    asked = [(ORG, probability)]
    findings = find_errors(gold, [scored(asked, asked if probability >= 0.5 else [])] * 4)
    assert {each.number for each in findings} == {0, 1, 2, 3}
    drafts = [propose(own, [each for each in findings if each.number == i]) for i, own in enumerate(gold)]
    assert [[mark[:3] for mark in marks] for marks in drafts] == [[mark[:3] for mark in right]] * 4


def test_a_copy_keeps_its_own_where_nothing_is_better():
    gold = [text(PER, ORG), text(PER)]
    both = [(PER, 0.9), (ORG, 0.5)]
    findings = find_errors(gold, [scored(both, []), scored(both, [])])
    assert {each.kind for each in findings} == {COPIES}
    assert [propose(own, findings) for own in gold] == [[PER, ORG], [PER]]


def test_spans_that_cannot_be_judged_are_no_errors_and_are_kept():
    gold = [text(PER, ORG), text(ORG), text(PER)]
    unjudged = ScoredText([PER._replace(score=0.9), ORG._replace(score=None)], [Mark(3, 5, "LOC", 0.8)])
    own = [unjudged, unjudged._replace(asked=unjudged.asked[::-1]), None]
    assert count_unjudged(gold, own) == {"ORG": 2} and count_unjudged(gold, [None] * 3) == {}
    findings = find_errors(gold, own)
    assert [(each.number, each.kind, each.proposed.label) for each in findings] == [(1, COPIES, "PER")]
    assert [propose(each, findings) for each in gold] == [each.marks for each in gold]


def test_many_copies():
    """Copies are counted once for each text, not for each copy, which would take minutes."""
    gold = [GoldText("王明在", [PER], [])] * 9_999 + [GoldText("王明在", [], [])]
    asked = spans_of_copies(gold)
    assert asked[0] == asked[-1] == [PER]
    scored = [ScoredText([mark._replace(score=0.9) for mark in marks], []) for marks in asked]
    [finding] = find_errors(gold, scored)
    assert (finding.number, finding.kind) == (9_999, COPIES)
    assert finding.probability == pytest.approx(0.1 * 0.0001)
