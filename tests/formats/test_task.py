from spacy_lexner.formats.offsets import GRAPHEMES, UTF_16, Offsets
from spacy_lexner.formats.record import Entity, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.task import INSIDE, Region, Task, find_regions


def test_regions():
    report = Report()
    task = Task(Record("😀南京", None, [Entity(1, 3, "GPE"), Entity(0, 1, "X")], "here"), [0.5, None])
    assert list(find_regions(task, Offsets("😀南京", UTF_16), report)) == [
        Region(2, 4, "GPE", "南京", 0.5),
        Region(0, 2, "X", "😀"),
    ]
    assert not report.problems
    assert list(find_regions(Task(Record("南京", None, None, "here")), Offsets("南京", UTF_16), report)) == []


def test_regions_inside_of_a_unit():
    report = Report()
    task = Task(Record("e\u0301", None, [Entity(0, 1, "X")], "here"))
    assert not list(find_regions(task, Offsets("e\u0301", GRAPHEMES), report))
    assert report.describe() == [f"{INSIDE}: 1 (here: X e)"]
