"""A report as a self-contained HTML page."""

from functools import partial
from typing import Any, Callable, Dict, List, Optional

from ..templates import render
from ..visualize.graphemes import clean
from ..visualize.label_colors import label_color
from ..visualize.lattice import Lattice
from ..visualize.picture import LEGEND
from ..visualize.svg import draw_svg
from .chinese import CHINESE
from .errors import CORRECT, ERRORS
from .measure import GOLD, MODEL
from .report import EMPTIED, WITHOUT, Report

COLORS = ("#3b6ea8", "#c7683a", "#3f8f5f", "#8a5fb0", "#b0475f", "#7c7c2f", "#2f8c94", "#8a8f98")
NO_ENTITY = "no entity"
LANGUAGES = ("en", "zh")  # the default first
TranslateT = Callable[[str], str]


def make_page(report: Report, *, title: str = "Report", language: str = LANGUAGES[0]) -> str:
    """Make the HTML page of a report: tables, charts, and the texts with the most errors as lattices. Texts, labels and
    names are escaped. Raises ValueError for a language other than LANGUAGES."""
    t: TranslateT = CHINESE.__getitem__ if check_language(language) == "zh" else str
    models = [_describe(report, i, name, t) for i, name in enumerate(report.models)]
    labels = sorted({label for model in models for label in model["labels"]})
    return render(
        "report.html.jinja",
        language=language,
        t=t,
        title=clean(title),
        corpus=report.corpus,
        corpus_labels={clean(label): count for label, count in report.corpus["labels"].items()},
        n_samples=report.settings.n_samples,
        models=models,
        lexicon=report.weigh_lexicon(),
        labels=labels,
        label_colors={label: label_color(label) for label in labels},
        error_kinds=(CORRECT, *ERRORS),
        n_worst=report.settings.n_worst,
        legend=LEGEND,
        score=_score,
        between=partial(_between, t),
    )


def check_language(language: str) -> str:
    """RETURNS (str): The language. Raises ValueError unless it is one of LANGUAGES."""
    if language not in LANGUAGES:
        raise ValueError(f"The language of the report is {language!r}; expected one of {', '.join(LANGUAGES)}.")
    return language


def _describe(report: Report, number: int, name: str, t: TranslateT) -> Dict[str, Any]:
    """The values that the template shows for a model."""
    measured = report.models[name]
    figures = measured.figures
    return {
        **figures,
        "name": clean(_name(name, t)),
        "color": COLORS[number % len(COLORS)],
        "labels": {clean(label): scores for label, scores in figures["labels"].items()},
        "difference": report.compare(name),
        "failed": {number: clean(reason) for number, reason in figures["failed"].items()},
        "confusions": _confusions(figures["confusions"], t),
        "worst": [
            {"number": text["number"], "errors": _errors(text["errors"], t), "svg": _draw(lattice, t)}
            for text, lattice in zip(figures["worst"], measured.worst)
        ],
    }


def _name(name: str, t: TranslateT) -> str:
    """RETURNS (str): The name of a model, with a translated note if it ran without words."""
    own, separator, change = name.rpartition(", ")
    return f"{own}{separator}{t(change)}" if change in (EMPTIED, WITHOUT) else name


def _draw(lattice: Lattice, t: TranslateT) -> str:
    tracks = [
        track._replace(name=t(track.name) if track.name in (GOLD, MODEL) else track.name) for track in lattice.tracks
    ]
    return draw_svg(lattice._replace(tracks=tracks), with_css=False)


def _confusions(counts: Dict[str, Dict[str, int]], t: TranslateT) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The columns, and rows of cells with their share of the row."""
    rows: List[Dict[str, Any]] = []
    for label, row in counts.items():
        total = max(1, sum(row.values()))
        cells = [
            {"count": row[other], "share": row[other] / total, "right": label == other} if other in row else None
            for other in counts
        ]
        rows.append({"label": clean(label) or t(NO_ENTITY), "cells": cells})
    return {"columns": [clean(label) or t(NO_ENTITY) for label in counts], "rows": rows}


def _errors(errors: List[Dict[str, Any]], t: TranslateT) -> List[str]:
    """RETURNS (List[str]): A description of each error."""
    described = []
    for error in errors:
        sides = [f"{side['label']} {side['text']}" if side else "–" for side in (error["gold"], error["predicted"])]
        described.append(clean(f"{t(error['kind'])}{t(':')} {' → '.join(sides)}"))
    return described


def _score(value: Optional[float]) -> str:
    """RETURNS (str): A share as a percentage."""
    return "–" if value is None else f"{100 * value:.1f}"


def _between(t: TranslateT, ends: Optional[List[float]], signed: bool = False) -> str:
    """RETURNS (str): The two ends of an interval as percentages."""
    return "" if ends is None else t(" to ").join(f"{100 * end:+.1f}" if signed else f"{100 * end:.1f}" for end in ends)
