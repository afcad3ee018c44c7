import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.report.errors import _find_overlapping, count_confusions, count_errors, pair
from spacy_lexner.visualize.lattice import Mark

A, B, C = Mark(0, 4, "X"), Mark(4, 6, "Y"), Mark(8, 10, "X")


@pytest.mark.parametrize(
    "gold, predicted, kinds",
    [
        ([A, B], [B, A], ["correct", "correct"]),
        ([A], [A._replace(label="Y", score=0.5)], ["type"]),
        ([A], [Mark(1, 4, "X")], ["boundary"]),
        ([A], [Mark(1, 4, "Y")], ["type and boundary"]),
        ([A], [B], ["missed", "spurious"]),
        ([A], [Mark(0, 1, "X"), Mark(1, 4, "X")], ["boundary", "spurious"]),
        ([A], [Mark(0, 3, "Y"), Mark(3, 4, "X")], ["boundary", "spurious"]),
        ([Mark(0, 2, "X"), Mark(2, 4, "X")], [A], ["boundary", "missed"]),
        ([], [], []),
    ],
)
def test_kinds(gold, predicted, kinds):
    assert [outcome.kind for outcome in pair(gold, predicted)] == kinds


def test_the_greatest_overlap_is_paired():
    [best, other] = pair([Mark(0, 6, "X")], [Mark(0, 2, "X"), Mark(2, 6, "X")])
    assert best.predicted == Mark(2, 6, "X") and other.gold is None


def test_counts():
    outcomes = pair([A, B, C], [A, Mark(4, 6, "X"), Mark(20, 22, "Z")])
    errors = {"correct": 1, "type": 1, "boundary": 0, "type and boundary": 0, "missed": 1, "spurious": 1}
    assert count_errors(outcomes) == errors
    assert count_confusions(outcomes) == {
        "X": {"X": 1, "Y": 0, "Z": 0, "": 1},
        "Y": {"X": 1, "Y": 0, "Z": 0, "": 0},
        "Z": {"X": 0, "Y": 0, "Z": 0, "": 0},
        "": {"X": 0, "Y": 0, "Z": 1},
    }


MARKS = st.lists(
    st.builds(
        lambda start, length, label: Mark(start, start + length, label),
        st.integers(0, 9),
        st.integers(1, 4),
        st.sampled_from("XY"),
    ),
    unique=True,
)


@given(MARKS, MARKS)
def test_all_overlaps_are_found(gold, predicted):
    gold, predicted = sorted(gold), sorted(predicted)
    assert list(_find_overlapping(gold, predicted)) == [
        (i, j) for i, a in enumerate(gold) for j, b in enumerate(predicted) if a.start < b.end and b.start < a.end
    ]


@given(MARKS, MARKS)
def test_everything_is_there_once(gold, predicted):
    outcomes = pair(gold, predicted)
    assert sorted(outcome.gold for outcome in outcomes if outcome.gold) == sorted(gold)
    assert sorted(outcome.predicted for outcome in outcomes if outcome.predicted) == sorted(predicted)
    counts = count_errors(outcomes)
    assert counts["correct"] == len(set(gold) & set(predicted)) and sum(counts.values()) == len(outcomes)
    left = [outcome for outcome in outcomes if outcome.kind in ("missed", "spurious")]
    assert not any(
        a.gold and b.predicted and min(a.gold.end, b.predicted.end) > max(a.gold.start, b.predicted.start)
        for a in left
        for b in left
    ), "what overlaps is paired"


def test_a_text_with_many_entities():
    """Pairs are sought only where they overlap; comparing all with all would take minutes."""
    gold = [Mark(10 * i, 10 * i + 3, "X") for i in range(20_000)]
    outcomes = pair(gold, [mark._replace(start=mark.start + 1) for mark in gold])
    assert count_errors(outcomes)["boundary"] == len(outcomes) == 20_000
