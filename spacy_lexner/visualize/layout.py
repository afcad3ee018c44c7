"""The layout of a picture: characters in columns, rows of limited width, marks stacked so that none overlap."""

from itertools import accumulate
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Union, cast

from .graphemes import Grapheme, split_graphemes
from .lattice import Lattice, Mark, Word

CUT_ENTITY = 100
LOOK_BACK = 0.25  # the share at the end of a row in which the best place for a break is chosen


class Cell(NamedTuple):
    """A character, and its first column in the row."""

    column: int
    grapheme: Grapheme


class Placed(NamedTuple):
    """A mark, or the part of it that is in a row. Ranges are half-open."""

    mark: Union[Word, Mark]
    left: int  # its columns in the row
    right: int
    start: int  # its characters in the row
    end: int
    label_left: int = 0  # the columns of its label
    label_right: int = 0
    lane: int = 0  # number of lanes between it and the text


class Row(NamedTuple):
    """A row of the picture."""

    cells: List[Cell]  # the characters
    words: List[Placed]
    tracks: List[List[Placed]]  # the entities of each track; lanes leave room for labels

    @property
    def columns(self) -> int:
        """The number of columns that characters and labels take up."""
        return max([_width(self.cells), *(mark.label_right for track in self.tracks for mark in track)])


def lay_out(lattice: Lattice, columns: int, label_columns: Dict[Mark, int]) -> List[Row]:
    """Cut a text into rows of at most `columns` columns (at least one row), and place its marks. `label_columns` has
    the widths of entity labels; a label begins with its entity, or ends at the right border if there is no room."""
    rows = [list(_place(graphemes)) for graphemes in _cut(split_graphemes(lattice.text), columns, _cuts(lattice))]
    by_length = sorted(lattice.words, key=lambda word: (word.end - word.start, word.start))  # longer ones lower
    words = [stack(row) for row in _distribute(by_length, rows)]
    marks = [sorted(track.marks, key=lambda mark: mark[:3]) for track in lattice.tracks]  # scores may be None
    tracks = [
        [stack(_label(mark, label_columns, columns) for mark in row) for row in _distribute(own, rows)] for own in marks
    ]
    return [Row(cells, words[i], [track[i] for track in tracks]) for i, cells in enumerate(rows)]


def stack(marks: Iterable[Placed]) -> List[Placed]:
    """Put each mark in the first lane where neither it nor its label overlaps another."""
    lanes: List[int] = []  # occupied columns, as bits
    placed = []
    for mark in marks:
        bits = _bits(mark.left, mark.right) | _bits(mark.label_left, mark.label_right)
        lane = next((i for i, taken in enumerate(lanes) if not taken & bits), len(lanes))
        if lane == len(lanes):
            lanes.append(0)
        lanes[lane] |= bits
        placed.append(mark._replace(lane=lane))
    return placed


def _bits(left: int, right: int) -> int:
    return ((1 << (right - left)) - 1) << left


def n_lanes(marks: Sequence[Placed]) -> int:
    """RETURNS (int): The number of lanes that marks take up."""
    return max((mark.lane for mark in marks), default=-1) + 1


def _place(graphemes: Iterable[Grapheme]) -> Iterator[Cell]:
    column = 0
    for grapheme in graphemes:
        yield Cell(column, grapheme)
        column += grapheme.width


def _width(cells: Sequence[Cell]) -> int:
    return cells[-1].column + cells[-1].grapheme.width if cells else 0


def _distribute(marks: Iterable[Any], rows: Sequence[Sequence[Cell]]) -> List[List[Placed]]:
    """RETURNS (List[List[Placed]]): The parts of marks in each row. A mark that begins or ends inside a grapheme covers
    all of it."""
    at = {
        character: (i, cell)
        for i, cells in enumerate(rows)
        for cell in cells
        for character in range(cell.grapheme.start, cell.grapheme.end)
    }
    placed: List[List[Placed]] = [[] for _ in rows]
    for mark in marks:
        if mark.start >= mark.end:
            continue
        (first_row, first), (last_row, last) = at[mark.start], at[mark.end - 1]
        for i in range(first_row, last_row + 1):
            cells = rows[i]
            left, start = (first.column, mark.start) if i == first_row else (0, cells[0].grapheme.start)
            right, end = _width(cells), cells[-1].grapheme.end
            if i == last_row:
                right, end = last.column + last.grapheme.width, mark.end
            placed[i].append(Placed(mark, left, right, start, end))
    return placed


def _label(mark: Placed, label_columns: Dict[Mark, int], columns: int) -> Placed:
    """RETURNS (Placed): The entity with the columns of its label."""
    width = min(label_columns[cast(Mark, mark.mark)], columns)
    left = min(mark.left, columns - width)
    return mark._replace(label_left=left, label_right=left + width)


def _cuts(lattice: Lattice) -> Sequence[int]:
    """RETURNS (Sequence[int]): The number of marks that a break before each character would cut; an entity counts as
    CUT_ENTITY words."""
    weighted = [(word.start, word.end, 1) for word in lattice.words]
    weighted += [(mark.start, mark.end, CUT_ENTITY) for track in lattice.tracks for mark in track.marks]
    change = [0] * (len(lattice.text) + 2)
    for start, end, weight in weighted:
        if start < end:
            change[start + 1] += weight
            change[end] -= weight
    return list(accumulate(change))


def _cut(graphemes: Iterable[Grapheme], columns: int, cuts: Sequence[int]) -> List[List[Grapheme]]:
    """Break graphemes into rows, after newlines and where few marks are cut."""
    rows: List[List[Grapheme]] = []
    row: List[Grapheme] = []
    for grapheme in graphemes:
        row.append(grapheme)
        if sum(other.width for other in row) > columns and len(row) > 1:
            first = max(1, int(len(row) * (1 - LOOK_BACK)))
            best = min(range(first, len(row)), key=lambda i: (cuts[row[i].start], -i))
            rows.append(row[:best])
            row = row[best:]
        if grapheme.new_line:
            rows.append(row)
            row = []
    return [*rows, row] if row or not rows else rows
