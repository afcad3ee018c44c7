import zipfile

import pytest

from spacy_lexner.formats.brat import COUNTED_TWICE, OTHER_FILE, RENAMED, read_brat, write_brat
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.task import Task


@pytest.fixture
def read(tmp_path):
    def read(text, ann=None, report=None, **options):
        (tmp_path / "1.txt").write_bytes(text.encode())
        if ann is not None:
            (tmp_path / "1.ann").write_bytes(ann.encode())
        return list(read_brat(Source(tmp_path), ReadOptions(**options), report or Report()))

    return read


def test_entities(read):
    [record] = read("😀在南京，王明", "T1\tGPE 2 4\t南京\r\nT2\tPER 5 7\t王明\nT3\tX 2 3\t南\n\n")
    assert record.entities == [Entity(2, 3, "X"), Entity(2, 4, "GPE"), Entity(5, 7, "PER")]


def test_the_page_of_brat_counts_utf_16_units(read):
    report = Report()
    [record] = read("😀在南京", "T1\tGPE 3 5\t南京", report)
    assert record.entities == [Entity(2, 4, "GPE")] and "utf-16" in next(iter(report.problems))


def test_pieces(read):
    """Parts separated by white space are one entity, since brat splits entities at line ends."""
    report = Report()
    [record] = read("New\r\nYork City", "T1\tGPE 0 3;5 9\tNew York\nT2\tX 0 3;10 14\tNew City", report)
    assert record.entities == [Entity(0, 9, "GPE")] and list(report.problems) == ["discontinuous entity: left out"]


def test_the_gap_between_pieces_is_in_the_unit_of_offsets(read):
    report = Report()
    [record] = read("😀New\nYork", "T1\tGPE 2 5;6 10\tNew York", report, offsets="utf-16")
    assert record.entities == [Entity(1, 9, "GPE")] and not report.problems


def test_entities_across_lines_are_written_in_pieces(tmp_path):
    """brat refuses a line whose text is not that of the pieces, joined by a space."""
    record = Record("😀New\r\nYork\tCity\n", None, [Entity(1, 16, "X"), Entity(15, 16, "Y")], "here")
    for unit, bounds in (("code-points", "1 4;6 10;11 15"), ("utf-16", "2 5;7 11;12 16")):
        report = Report()
        write_brat([Task(record)], tmp_path / unit, report, unit=unit)
        assert (tmp_path / unit / "000001.ann").read_text("utf8") == f"T1\tX {bounds}\tNew York City\n"
        assert report.problems["entity of line ends or tabs: left out"] == 1


def test_what_cannot_be_read_is_counted(read):
    report = Report()
    others = "E1\tMove:T1\nR1\tPart Arg1:T1 Arg2:T1\nA1\tSure T1\nN1\tReference T1 a:1\n#1\tNote T1\tx\n*\tSame T1 T1\n"
    read("南京", f"T1\tGPE 0 2\t南京\n{others}", report)
    assert sorted(report.problems) == sorted(
        f"{name}: left out" for name in ("event", "relation", "attribute", "normalization", "note", "equivalence")
    )


def test_texts_without_annotation(read):
    report = Report()
    [record] = read("南京", None, report)
    assert record.entities is None and report.problems
    assert read("南京", "")[0].entities == []


def test_annotation_without_its_text(tmp_path):
    for name, text in (("1.txt", "南京"), ("1.ann", "T1\tGPE 0 2\t南京"), ("2.ann", "T1\tGPE 0 2\t北京")):
        (tmp_path / name).write_text(text, "utf8")
    report = Report()
    assert [len(record.entities) for record in read_brat(Source(tmp_path), ReadOptions(), report)] == [1]
    assert report.describe() == [f"annotation without its .txt file: left out: 1 ({tmp_path / '2.ann'})"]


def test_files_of_other_formats_are_reported(read, tmp_path):
    for name in ("more.conll", "annotation.conf", "README"):
        (tmp_path / name).touch()
    report = Report()
    read("南京", "", report)
    [(kind, count)] = report.problems.items()
    assert (kind, count) == (OTHER_FILE, 2)
    report = Report()
    assert len(list(read_brat(Source(tmp_path / "1.ann"), ReadOptions(), report))) == 1 and not report.problems


def test_archives_and_single_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, text in (("x/1.txt", "南京"), ("x/1.ann", "T1\tGPE 0 2\t南京"), ("2.txt", "无"), ("2.ann", "")):
            archive.writestr(name, text)
    records = list(read_brat(Source(tmp_path / "a.zip"), ReadOptions(), Report()))
    assert [(record.text, len(record.entities)) for record in records] == [("无", 0), ("南京", 1)]
    for name, text in (("1.txt", "南京"), ("1.ann", "T1\tGPE 0 2\t南京"), ("2.txt", "无")):
        (tmp_path / name).write_text(text, "utf8")
    [record] = read_brat(Source(tmp_path / "1.ann"), ReadOptions(), Report())
    assert record.text == "南京" and len(record.entities) == 1


@pytest.mark.parametrize(
    "ann, message",
    [
        ("nothing", r"1\.ann:1: 'nothing' is not a line of brat"),
        ("\nT1\tGPE 0\t南", r"1\.ann:2: 'T1.*' is not a line of brat"),
        ("T1\tGPE 0 1\t京", "GPE '京' is not at 0, 1: there is '南'"),
        ("T1\tGPE 0 9\t京", "is not at"),
    ],
)
def test_errors(read, ann, message):
    with pytest.raises(FormatError, match=message):
        read("南京", ann)


def test_nothing_to_read(tmp_path):
    (tmp_path / "x.csv").write_text("x")
    with pytest.raises(FormatError, match=r"no \.txt files"):
        list(read_brat(Source(tmp_path), ReadOptions(), Report()))


def test_labels_that_brat_cannot_name(tmp_path):
    labels = ["PER.NAM", "PER_NAM", "地点", "人物", "A b", "OK-1"]
    report = Report()
    record = Record("南京南京南京", None, [Entity(i, i + 1, label) for i, label in enumerate(labels)], "here")
    write_brat([Task(record)], tmp_path / "new", report)
    names = [
        line.split("\t")[1].split(" ")[0]
        for line in (tmp_path / "new" / "000001.ann").read_text("utf8").split("\n")[:-1]
    ]
    assert names == ["PER_NAM", "PER_NAM-2", "__", "__-2", "A_b", "OK-1"]
    assert report.problems[RENAMED] == 5
    [back] = read_brat(Source(tmp_path / "new"), ReadOptions(), Report())
    assert back.entities == record.entities


def test_labels_from_a_file_with_windows_line_ends(read, tmp_path):
    (tmp_path / "annotation.conf").write_bytes("[entities]\r\nX\r\n# X stands for 地点\r\n".encode())
    assert read("南京", "T1\tX 0 2\t南京\r\n")[0].entities == [Entity(0, 2, "地点")]


def test_writing(tmp_path):
    report = Report()
    record = Record("😀南\n京", None, [Entity(1, 4, "GPE")], "here")
    tasks = [Task(record, [0.25], notes={"a": 1}), Task(record._replace(entities=None))]
    write_brat(tasks, tmp_path / "new", report)
    assert (tmp_path / "new" / "000001.ann").read_text(
        "utf8"
    ) == "T1\tGPE 1 2;3 4\t南 京\n#1\tAnnotatorNotes T1\tscore 0.2500\n"
    assert (tmp_path / "new" / "annotation.conf").read_text("utf8").startswith("[entities]\nGPE\n[relations]")
    assert report.problems[COUNTED_TWICE] == 2 and len(report.problems) == 3
    with pytest.raises(FileExistsError, match="Give a new folder"):
        write_brat([], tmp_path / "new", report)
