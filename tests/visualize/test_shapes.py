from spacy_lexner.visualize.graphemes import split_graphemes
from spacy_lexner.visualize.label_colors import label_color, line_color
from spacy_lexner.visualize.lattice import Mark, Word
from spacy_lexner.visualize.layout import Cell, Placed
from spacy_lexner.visualize.shapes import (
    FAINT,
    STRONG,
    UNKNOWN,
    label_columns,
    make_band,
    make_chip,
    make_label,
    make_runs,
)


def test_characters():
    cells = [Cell(column, grapheme) for column, grapheme in zip((0, 2, 3, 5), split_graphemes("南 京🇨🇳"))]
    runs = {(run.text, run.visible): run.x for run in make_runs(cells, 10)}
    assert runs == {("南京", True): "22 58", ("␣", False): "40", ("🇨🇳", True): "82"}


def test_labels():
    assert make_label(Mark(0, 1, "LOC")) == "LOC"
    assert make_label(Mark(0, 1, "LOC", 0.987)) == "LOC 0.99"
    assert make_label(Mark(0, 1, "", 0.5)) == "0.50"
    assert make_label(Mark(0, 1, "x" * 50)) == "x" * 39 + "…"
    assert make_label(Mark(0, 1, "a\0b")) == "a\ufffdb"
    assert label_columns(Mark(0, 1, "地点")) == label_columns(Mark(0, 1, "LOCS")) == 3


def test_an_entity():
    chip = make_chip(Placed(Mark(0, 2, "LOC", 0.98765, "seen"), 2, 6, 0, 2, 1, 5, 1), 10, 100)
    assert (chip.x, chip.y, chip.width, chip.label_x) == (35, 60, 46, 23)
    assert chip.note == "LOC · 0.9877 · seen"
    assert (chip.color, chip.line) == (label_color("LOC"), line_color(label_color("LOC")))


def test_a_word():
    def band(word, arc=False, label=""):
        return make_band(Placed(word, 2, 6, word.start, word.end, lane=1), "一南京二", 10, 100, label, arc=arc)

    bar = band(Word(1, 3, 0.5, "weight 3"))
    assert (bar.x, bar.y, bar.width, bar.text, bar.note) == (35, 120, 46, "南京", "南京 · weight 3")
    assert [band(Word(1, 3, strength)).opacity for strength in (0, 1, None)] == [FAINT, STRONG, UNKNOWN]
    assert (bar.line, band(Word(1, 3), label="LOC").line) == ("", line_color(label_color("LOC")))
    arc = band(Word(1, 3), arc=True)
    assert (arc.x, arc.width) == (41, 34), "from the middle of a character to the middle of another"


def test_a_word_that_is_cut():
    parts = [
        make_band(Placed(Word(1, 5), 0, 2, start, end), "一南京市长二", 0, 0, "", arc=False)
        for start, end in ((1, 2), (2, 4), (4, 5))
    ]
    assert [part.text for part in parts] == ["南-", "-京市-", "-长"]
    assert {part.note for part in parts} == {"南京市长"}


def test_long_arcs_are_deeper_but_not_endless():
    depths = [
        make_band(Placed(Word(0, 1), 0, right, 0, 1), "x", 0, 0, "", arc=True).depth for right in (2, 4, 8, 400, 800)
    ]
    assert depths == sorted(depths) and depths[0] < depths[1] < depths[2] < depths[3] == depths[4]
