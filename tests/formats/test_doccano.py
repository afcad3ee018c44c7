import json

import pytest

from spacy_lexner.formats.doccano import read_doccano, write_doccano
from spacy_lexner.formats.offsets import GRAPHEMES
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.task import INSIDE, Task

FIREMEN = "👨🏻‍🚒 firemen drive firetrucks"


@pytest.fixture
def read(tmp_path):
    def read(*lines, report=None, **options):
        (tmp_path / "file").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return list(read_doccano(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_places_count_utf_16_units(read):
    """The example of doccano's issue 2290."""
    [record] = read({"text": FIREMEN, "label": [[22, 32, "X"]]})
    assert record.text[slice(*record.entities[0][:2])] == "firetrucks" and record.entities[0].start == 19


def test_places_may_count_clusters(read):
    [record] = read({"text": FIREMEN, "label": [[16, 26, "X"]]}, offsets="graphemes")
    assert record.text[slice(*record.entities[0][:2])] == "firetrucks"


def test_shapes_of_all_versions(read):
    spans = {"label": [[0, 2, "GPE"]], "labels": [[0, 2, "GPE"]]}
    lines = [{"text": "南京", key: value} for key, value in spans.items()]
    lines.append({"data": "南京", "label": [[0, 2, "GPE"]]})
    lines.append({"text": "南京", "entities": [{"id": 1, "start_offset": 0, "end_offset": 2, "label": "GPE"}]})
    assert [record.entities for record in read(*lines)] == [[Entity(0, 2, "GPE")]] * 4
    assert [record.entities for record in read({"text": "南京"}, {"text": "南京", "label": []})] == [None, []]


def test_other_programs_count_code_points(read):
    """Among them `annotate`. A text of the entity, if given, is compared."""
    span = {"start": 3, "end": 5, "label": "GPE", "text": "南京"}
    for given in (span, {**span, "text": None}, {**span, "score": 0.5}):
        assert read({"text": "😀我在南京", "entities": [given]})[0].entities == [Entity(3, 5, "GPE")]
    report = Report()
    [record] = read({"text": "😀我在南京", "entities": [{**span, "start": 4, "end": 6}]}, report=report)
    assert record.entities == [Entity(3, 5, "GPE")]
    assert list(report.problems) == ["entity with offsets that count utf-16: read accordingly"]


def test_doccano_itself_counts_utf_16_units(read):
    for given in ([4, 6, "GPE"], {"start_offset": 4, "end_offset": 6, "label": "GPE"}):
        assert read({"text": "😀我在南京", "label": [given]})[0].entities == [Entity(3, 5, "GPE")]


def test_triples_under_the_name_that_spacy_uses_count_code_points(read):
    for name, start in (("label", 4), ("labels", 4), ("entities", 3)):
        assert read({"text": "😀我在南京", name: [[start, start + 2, "GPE"]]})[0].entities == [Entity(3, 5, "GPE")]


def test_entities_under_two_names_are_reported(read):
    report = Report()
    line = {"text": "我在南京", "label": [[2, 4, "GPE"]], "labels": [[2, 4, "GPE"]]}
    read(line, report=report)
    assert not report.problems
    read({**line, "entities": [{"start": 0, "end": 1, "label": "PER"}]}, report=report)
    assert report.problems == {"entities of a text that also has label: left out": 1}


def test_an_empty_list_does_not_hide_entities(read):
    assert read({"text": "南京", "label": [], "entities": [[0, 2, "GPE"]]})[0].entities == [Entity(0, 2, "GPE")]


def test_what_cannot_be_read_is_counted(read):
    report = Report()
    read({"text": "南京", "entities": [], "relations": [{"id": 1}], "Comments": ["?"], "spans": [3]}, report=report)
    assert list(report.problems) == [f"{name} of a text: left out" for name in ("spans", "relations", "Comments")]


@pytest.mark.parametrize(
    "line, message",
    [
        ({"text": "南京", "label": ["positive"]}, "'positive' is not a span"),
        ({"text": "南京", "label": "positive"}, "'positive' is not a span"),
        ({"text": "南京", "label": ""}, "'' is not a span"),
        ({"text": "南京", "label": [[0, 9, "X"]]}, "not within the text of"),
        ({"text": "😀", "label": [[0, 1, "X"]]}, "utf-16"),
        ({"text": "南京", "label": [{"start": 0, "end": 2, "label": "X", "text": "北京"}]}, "'北京' is not at 0, 2"),
        ({"label": []}, 'a string "text"'),
    ],
)
def test_errors(read, line, message):
    with pytest.raises(FormatError, match=message):
        read(line)


def test_writing():
    report = Report()
    record = Record("😀南京", None, [Entity(1, 3, "GPE"), Entity(1, 2, "X")], "here")
    task = Task(record, [0.5, None], notes={"margin": 0.1, "label": "mine"})
    [line] = map(json.loads, write_doccano([task], report))
    assert line == {"text": "😀南京", "label": [[2, 4, "GPE"], [2, 3, "X"]], "margin": 0.1}
    assert [kind.split(":")[0] for kind in report.problems] == ["score of an entity", "note 'label'"]


def test_entities_inside_of_clusters_are_counted():
    report = Report()
    record = Record("👨🏻‍🚒", None, [Entity(0, 1, "X")], "here")
    [line] = map(json.loads, write_doccano([Task(record)], report, unit=GRAPHEMES))
    assert line["label"] == [] and list(report.problems) == [INSIDE]
