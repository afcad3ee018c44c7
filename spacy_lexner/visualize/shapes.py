"""The shapes of characters, entities and words, positioned in pixels."""

from math import ceil
from typing import Dict, Iterable, List, NamedTuple, Tuple, cast

from .graphemes import clean, text_width
from .label_colors import label_color, line_color
from .lattice import Mark, Word
from .layout import Cell, Placed

COLUMN = 12  # pixels of a narrow character; a wide one takes two columns
LANE = 20
SMALL = 6.6  # pixels of a narrow character in a label
MAX_LABEL, MAX_NOTE = 40, 200  # characters
FAINT, STRONG, UNKNOWN = 0.14, 0.6, 0.3  # opacity of words
ARC_BASE, ARC_STEP, MAX_ARC = 8, 9, 140


class Run(NamedTuple):
    """Characters in one SVG element."""

    x: str  # the centre of each character, separated by spaces
    text: str
    visible: bool  # false for signs that stand for invisible characters


class Chip(NamedTuple):
    """An entity: a line over its characters, and its label."""

    x: float  # its place in the lane above its characters
    y: float
    width: float
    label_x: float
    label: str  # with the score
    color: str  # behind the characters
    line: str  # the colour of the line
    note: str  # the tooltip


class Band(NamedTuple):
    """A candidate word, as a bar or an arc."""

    x: float  # the place of the bar, or the ends and the top of the arc
    y: float
    width: float
    depth: float  # the height
    text: str  # the part of the word in this row; a hyphen shows where it continues
    opacity: float
    line: str  # the colour of its frame if it is also an entity, or ""
    note: str  # the tooltip
    stripes: List[Tuple[float, float, str]]  # for each of its labels, x, width and colour of a stripe at the bottom


def make_runs(cells: Iterable[Cell], left: float) -> List[Run]:
    """Make the text elements of a row, from x = `left`. Characters of one UTF-16 unit share an element."""
    runs: List[Run] = []
    together: Dict[bool, List[Tuple[str, str]]] = {True: [], False: []}
    for column, grapheme in cells:
        x = f"{left + (column + grapheme.width / 2) * COLUMN:g}"
        if len(grapheme.shown) == 1 and grapheme.shown < "\U00010000":
            together[grapheme.visible].append((x, grapheme.shown))
        else:
            runs.append(Run(x, grapheme.shown, grapheme.visible))
    for visible, places in together.items():
        if places:
            runs.append(Run(" ".join(x for x, _ in places), "".join(shown for _, shown in places), visible))
    return runs


def make_label(mark: Mark) -> str:
    """RETURNS (str): The label of an entity, shortened if necessary, with its score."""
    label = clean(mark.label)
    label = f"{label[: MAX_LABEL - 1]}…" if len(label) > MAX_LABEL else label
    return label if mark.score is None else f"{label} {mark.score:.2f}".strip()


def label_columns(mark: Mark) -> int:
    """RETURNS (int): The number of columns that the label of an entity takes up, with a little space after it."""
    return ceil((text_width(make_label(mark)) * SMALL + 6) / COLUMN)


def make_chip(placed: Placed, left: float, bottom: float) -> Chip:
    """Make the shape of an entity; the first column begins at `left`, its track ends at `bottom`."""
    mark = cast(Mark, placed.mark)
    color = label_color(mark.label)
    note = [mark.label, "" if mark.score is None else f"{mark.score:.4f}", mark.note]
    return Chip(
        x=left + placed.left * COLUMN + 1,
        y=bottom - (placed.lane + 1) * LANE,
        width=(placed.right - placed.left) * COLUMN - 2,
        label_x=left + placed.label_left * COLUMN + 1,
        label=make_label(mark),
        color=color,
        line=line_color(color),
        note=clean(" · ".join(filter(None, note)))[:MAX_NOTE],
    )


def make_band(placed: Placed, text: str, left: float, top: float, label: str, *, arc: bool) -> Band:
    """Make the shape of a candidate word, with the first column at `left` and the first lane at `top`. `label` is that
    of the entity at the same place, or ""; an arc runs from the centre of the first character to that of the last."""
    word = cast(Word, placed.mark)
    whole, part = text[word.start : word.end], text[placed.start : placed.end]
    shown = f"{'-' if placed.start > word.start else ''}{part}{'-' if placed.end < word.end else ''}"
    columns = placed.right - placed.left
    x, width, y, depth = left + placed.left * COLUMN + 1, columns * COLUMN - 2.0, top + placed.lane * LANE, LANE - 4.0
    if arc:
        x, width, y = x + COLUMN / 2, max(width - COLUMN, COLUMN / 2), top
        depth = min(ARC_BASE + ARC_STEP * columns / 2, MAX_ARC)
    share = (width - 8) / max(len(word.labels), 1)
    stripes = [(x + 4 + i * share, share, line_color(label_color(own))) for i, own in enumerate(word.labels)]
    return Band(
        x=x,
        y=y,
        width=width,
        depth=depth,
        text=clean(shown),
        opacity=round(UNKNOWN if word.strength is None else FAINT + (STRONG - FAINT) * word.strength, 3),
        line=line_color(label_color(label)) if label else "",
        note=clean(" · ".join(filter(None, [whole, word.note])))[:MAX_NOTE],
        stripes=[] if arc else stripes,
    )
