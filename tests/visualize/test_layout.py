from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.visualize.lattice import Lattice, Mark, Track, Word
from spacy_lexner.visualize.layout import lay_out, n_lanes, stack


def rows_of(text, columns, words=(), marks=(), label=0):
    tracks = [Track("", [Mark(start, end, "X") for start, end in marks])]
    labels = dict.fromkeys(tracks[0].marks, label)
    return lay_out(Lattice(text, [Word(*word) for word in words], tracks), columns, labels)


def text_of(row):
    return "".join(cell.grapheme.shown for cell in row.cells)


def test_rows_and_columns():
    rows = rows_of("南京市abc长江", 6)
    assert [text_of(row) for row in rows] == ["南京市", "abc长", "江"]
    assert [row.columns for row in rows] == [6, 5, 2]
    assert [cell.column for cell in rows_of("南a京", 80)[0].cells] == [0, 2, 3]


def test_new_lines_and_nothing():
    assert [text_of(row) for row in rows_of("南\n\n京", 80)] == ["南⏎", "⏎", "京"]
    assert [text_of(row) for row in rows_of("", 80)] == [""]
    assert rows_of("", 80)[0].columns == 0


def test_breaks_spare_entities_then_words():
    text = "一二三四五六七八九十"
    assert text_of(rows_of(text, 16)[0]) == text[:8]
    assert text_of(rows_of(text, 16, words=[(7, 9)])[0]) == text[:7]
    assert text_of(rows_of(text, 16, words=[(6, 7), (5, 7), (6, 8)], marks=[(7, 9)])[0]) == text[:7]
    assert text_of(rows_of(text, 16, marks=[(0, 10)])[0]) == text[:8], "no place without a cut"


def test_marks_that_are_cut():
    first, second = rows_of("一二三四五六", 8, words=[(2, 6)])
    assert [(word.left, word.right, word.start, word.end) for word in (*first.words, *second.words)] == [
        (4, 8, 2, 4), (0, 4, 4, 6)
    ]  # fmt: skip


def test_a_mark_inside_a_grapheme_takes_all_of_it():
    [row] = rows_of("a👨‍👩‍👧b", 80, words=[(2, 3), (3, 7)])
    assert [(word.left, word.right) for word in row.words] == [(1, 3), (1, 4)]


def test_long_words_are_farther_away():
    [row] = rows_of("一二三四五", 80, words=[(0, 5), (0, 2), (2, 4), (1, 3)])
    assert {(word.mark.start, word.mark.end): word.lane for word in row.words} == {
        (0, 2): 0, (2, 4): 0, (1, 3): 1, (0, 5): 2
    }  # fmt: skip


def test_labels_have_room():
    [row] = rows_of("一二三四五", 12, marks=[(0, 1), (1, 2), (4, 5)], label=6)
    assert [(mark.lane, mark.label_left, mark.label_right) for mark in row.tracks[0]] == [
        (0, 0, 6),
        (1, 2, 8),
        (0, 6, 12),
    ]
    assert row.columns == 12


def test_empty_marks_are_not_drawn():
    [row] = rows_of("一二三", 80, words=[(1, 1)])
    assert row.words == [] and n_lanes(row.words) == 0


SPANS = st.tuples(st.integers(0, 29), st.integers(1, 12)).map(lambda pair: (pair[0], min(30, sum(pair))))


@given(st.text("南a\n🇨e\u0301", min_size=30, max_size=30), st.lists(SPANS, unique=True), st.integers(2, 40))
def test_nothing_overlaps_and_nothing_is_lost(text, spans, columns):
    rows = rows_of(text, columns, words=spans, marks=spans, label=3)
    assert "".join(text[cell.grapheme.start : cell.grapheme.end] for row in rows for cell in row.cells) == text
    seen = []
    for row in rows:
        for placed in (row.words, row.tracks[0]):
            taken = set()
            for mark in placed:
                cells = {
                    (mark.lane, i) for i in (*range(mark.left, mark.right), *range(mark.label_left, mark.label_right))
                }
                assert cells and not cells & taken
                taken |= cells
        seen += [(word.mark.start, word.mark.end) for word in row.words if word.start == word.mark.start]
        assert all(mark.right <= columns for mark in (*row.words, *row.tracks[0]))
    assert sorted(seen) == sorted(spans)


def test_lanes_are_filled_from_the_text():
    [row] = rows_of("一二三四", 80, words=[(0, 2), (1, 3), (2, 4)])
    assert stack(row.words) == row.words and n_lanes(row.words) == 2
