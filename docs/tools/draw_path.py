"""Draws docs/pictures/doc-path.svg from doc-path.yml, and doc-path.zh.svg from doc-path.zh.yml: stations in the middle,
the output of each on the right, the lexicon and its links on the left.

    python docs/tools/draw_path.py
"""

from pathlib import Path
from typing import Any, Dict, Iterator, List
from xml.sax.saxutils import escape

import srsly

from spacy_lexner.visualize.graphemes import text_width

PICTURES = Path(__file__).parents[1] / "pictures"
WIDTH, TOP, ROW = 1000, 84, 138
LEXICON = (24, 132)  # left edge and width of the boxes
STATION = (236, 290)
PANEL, CELL = 572, 56  # left edge of the output, and width of a character
INK, SOFT, LINE, TEAL, PALE = "#1f2933", "#5f6c7b", "#9aa5b1", "#00796b", "#e0f2f1"
COLORS = {"GPE": "#f6c667", "LOC": "#8ecae6", "": "#b2dfdb"}
FONT = "system-ui, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"


def draw(source: Dict[str, Any]) -> str:
    """source (Dict[str, Any]): The content of doc-path.yml.
    RETURNS (str): The picture as SVG.
    """
    stations = source["stations"]
    height = TOP + ROW * len(stations) + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" role="img" '
        f'aria-label="{source["label"]}: {escape(", ".join(station["title"] for station in stations))}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0.5 L7.5 4 L0 7.5 z" fill="{LINE}"/></marker></defs>',
        rect(0, 0, WIDTH, height, "#ffffff", radius=10),
        text(STATION[0] + STATION[1] / 2, 38, source["text"], 20, anchor="middle", weight=600),
        text(PANEL, 38, source["handed_on"], 13, color=SOFT),
    ]
    centres = {}
    for number, station in enumerate(stations):
        top = TOP + number * ROW
        centres[station["title"]] = top + 46
        parts += [arrow(STATION[0] + STATION[1] / 2, top - (32 if number == 0 else 46), top), *box(station, top)]
        parts += [text(PANEL, top + 14, station["gives"], 13, color=TEAL, weight=600), *given(station, top + 26)]
    return "\n".join([*parts, *lexicon(source["lexicon"], centres), "</svg>", ""])


def box(station: Dict[str, Any], top: float) -> Iterator[str]:
    left, width = STATION
    yield rect(left, top, width, 92, PALE, border=TEAL, radius=8)
    yield text(left + 14, top + 25, station["title"], 17, weight=600)
    yield text(left + 14, top + 43, station["room"], 11.5, color=TEAL, mono=True)
    for number, line in enumerate(wrap(station["does"], 38)):
        yield text(left + 14, top + 63 + 16 * number, line, 12.5, color=SOFT)


def given(station: Dict[str, Any], top: float) -> Iterator[str]:
    """YIELDS (str): The output of a station, aligned with the characters."""
    for index, character in enumerate(station.get("cells", ())):
        yield rect(PANEL + index * CELL, top, CELL - 6, 32, "#ffffff", border=LINE, radius=5)
        yield text(PANEL + index * CELL + (CELL - 6) / 2, top + 22, character, 17, anchor="middle")
    lanes: List[int] = []  # where the last word of each lane ends
    for start, end, word in station.get("words", ()):
        lane = next((n for n, free in enumerate(lanes) if free <= start), len(lanes))
        lanes[lane : lane + 1] = [end]
        yield bar(start, end, top + lane * 25, 21, COLORS[""], word)
    for row in range(station.get("rows", 0)):
        for index in range(7):
            shade = 0.15 + 0.75 * ((row * 5 + index * 3 + row * index) % 7) / 6
            yield rect(PANEL + index * CELL, top + row * 15, CELL - 6, 12, TEAL, radius=2, opacity=round(shade, 2))
    for index, tag in enumerate(station.get("tags", ())):
        yield rect(PANEL + index * CELL, top, CELL - 6, 28, COLORS[tag[2:]], radius=5)
        yield text(PANEL + index * CELL + (CELL - 6) / 2, top + 18.5, tag, 12, anchor="middle", mono=True)
    for start, end, word, label in station.get("spans", ()):
        yield bar(start, end, top, 32, COLORS[label], f"{word}  {label}", size=15)


def lexicon(source: Dict[str, Any], centres: Dict[str, float]) -> Iterator[str]:
    left, width = LEXICON
    places = [centres[name] for name in source["links"]]
    top, bottom = places[0] - 46, places[-1] + 46
    yield rect(left, top, width, bottom - top, "#ffffff", border=TEAL, radius=8)
    yield text(left + width / 2, top + 34, source["title"], 17, anchor="middle", weight=600)
    yield text(left + width / 2, top + 52, source["room"], 11.5, anchor="middle", color=TEAL, mono=True)
    for number, line in enumerate(source["lines"]):
        yield text(left + width / 2, top + 84 + 20 * number, line, 13.5, anchor="middle", color=SOFT)
    for name, label in source["links"].items():
        start, end, y = left + width, STATION[0], centres[name]
        yield (
            f'<path d="M{start + 3} {y} H{end - 3}" stroke="{LINE}" stroke-width="1.6" stroke-dasharray="5 4" '
            'marker-end="url(#tip)" fill="none"/>'
        )
        for number, line in enumerate(reversed(wrap(label, 12))):
            yield text((start + end) / 2 - 3, y - 8 - 14 * number, line, 11.5, anchor="middle", color=SOFT)


def arrow(x: float, start: float, end: float) -> str:
    return f'<path d="M{x} {start + 3} V{end - 3}" stroke="{LINE}" stroke-width="2" marker-end="url(#tip)"/>'


def bar(start: int, end: int, y: float, height: float, color: str, label: str, size: float = 14) -> str:
    left, width = PANEL + start * CELL, (end - start) * CELL - 6
    words = text(left + width / 2, y + height / 2 + size * 0.36, label, size, anchor="middle")
    return rect(left, y, width, height, color, radius=5) + words


def rect(
    x: float, y: float, width: float, height: float, fill: str, *, border: str = "", radius: int = 0, opacity: float = 1
) -> str:
    stroke = f' stroke="{border}" stroke-width="1.4"' if border else ""
    faint = f' opacity="{opacity}"' if opacity != 1 else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}"{stroke}{faint}/>'


def text(
    x: float,
    y: float,
    content: str,
    size: float,
    *,
    anchor: str = "start",
    color: str = INK,
    weight: int = 400,
    mono: bool = False,
) -> str:
    font = " font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\"" if mono else ""
    style = f'font-size="{size}" text-anchor="{anchor}" fill="{color}" font-weight="{weight}"{font}'
    return f'<text x="{x}" y="{y}" {style}>{escape(content)}</text>'


def wrap(content: str, width: int) -> List[str]:
    lines = [""]
    for word in content.split():
        if lines[-1] and text_width(f"{lines[-1]} {word}") > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


if __name__ == "__main__":
    for file in PICTURES.glob("doc-path*.yml"):
        file.with_suffix(".svg").write_text(draw(srsly.read_yaml(file)), "utf8")
