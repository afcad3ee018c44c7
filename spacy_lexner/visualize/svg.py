"""Drawing of a lattice as SVG."""

from math import ceil
from typing import Any, Dict, List, Literal

from ..templates import render
from .graphemes import clean, text_width
from .lattice import Lattice
from .layout import Row, lay_out, n_lanes
from .shapes import COLUMN, LANE, MAX_LABEL, MAX_NOTE, SMALL, label_columns, make_band, make_chip, make_runs

StyleT = Literal["bars", "arcs"]
ThemeT = Literal["auto", "light", "dark"]
STYLES = ("bars", "arcs")
THEMES = ("auto", "light", "dark")
LINE, BASELINE = 32, 23  # of the characters
MARGIN = 14
TRACK_GAP = 8
MIN_WIDTH = 200
MIN_COLUMNS = 2  # beside long names of tracks: a wide character


def draw_svg(
    lattice: Lattice, *, style: StyleT = "bars", theme: ThemeT = "auto", width: int = 960, with_css: bool = True
) -> str:
    """Draw a lattice as an `svg` element: entities with label and score above the text, candidate words below.
    Everything is escaped. `with_css` adds the style sheet, for pages without it. Raises ValueError for an unknown style
    or theme, or too small a width."""
    for name, value, choices in (("style", style, STYLES), ("theme", theme, THEMES)):
        if value not in choices:
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join(choices)}.")
    if width < MIN_WIDTH:
        raise ValueError(f"width is {width}; expected at least {MIN_WIDTH} pixels.")
    names = [clean(track.name)[:MAX_LABEL] for track in lattice.tracks]
    left = MARGIN + max((ceil(text_width(name) * SMALL) + 8 for name in names if name), default=0)
    marks = {mark: label_columns(mark) for track in lattice.tracks for mark in track.marks}
    columns = max((width - left - MARGIN) // COLUMN, MIN_COLUMNS)
    rows = lay_out(lattice, columns, marks)
    labels = {(mark.start, mark.end): mark.label for mark in marks}
    y, drawn = float(MARGIN), []
    for row in rows:
        drawn.append(_draw_row(row, lattice.text, names, labels, left, y, arcs=style == "arcs"))
        y = drawn[-1]["bottom"]
    return render(
        "lattice.svg.jinja",
        rows=drawn,
        width=max(left + max(row.columns for row in rows) * COLUMN + MARGIN, MIN_WIDTH),
        height=y,
        margin=MARGIN,
        style=style,
        theme=theme,
        with_css=with_css,
        title=clean(lattice.text)[:MAX_NOTE],
    )


def _draw_row(
    row: Row, text: str, names: List[str], labels: Dict[Any, str], left: float, y: float, *, arcs: bool
) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The shapes of a row, and the y at which it ends."""
    titles, chips, borders = [], [], []
    for i, (name, track) in enumerate(zip(names, row.tracks)):
        if i:
            borders.append(y + TRACK_GAP / 2)
            y += TRACK_GAP
        y += max(n_lanes(track), 1 if name else 0) * LANE
        if name:
            titles.append({"y": y - 6, "text": name})
        chips += [make_chip(mark, left, y) for mark in track]
    top = y
    y += LINE
    words = [
        make_band(word, text, left, y, labels.get((word.mark.start, word.mark.end), ""), arc=arcs)
        for word in reversed(row.words)  # short ones in front
    ]
    y = max([y, *(word.y + word.depth + 4 for word in words)])
    return {
        "borders": borders,
        "titles": titles,
        "chips": chips,
        "highlight": len(names) == 1,
        "top": top,
        "baseline": top + BASELINE,
        "runs": make_runs(row.cells, left),
        "words": words,
        "bottom": y + MARGIN,
    }
