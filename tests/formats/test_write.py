import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.formats.offsets import GRAPHEMES, UNITS
from spacy_lexner.formats.read import read_records
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.task import Task
from spacy_lexner.formats.write import WRITERS, write_tasks

CHARACTERS = st.sampled_from([*'南京市a ,\n\t"\\<&\u2028é', "\u0301", "😀", "👨\u200d👩\u200d👧", "🇨🇳", "\r\n", "𠮷"])
WITH_OFFSETS = [name for name in WRITERS if not name.startswith("spacy-llm")]
LABELS = st.sampled_from(["PER", "PER.NAM", "地点", "A b", "<b>", 'q"\\'])


@st.composite
def records(draw):
    """Texts with emoji, and with any spans that hold more than white space."""
    text = "".join(draw(st.lists(CHARACTERS, max_size=12)))
    places = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text) + 1) if text[i:j].strip()]
    spans = draw(st.lists(st.tuples(st.sampled_from(places), LABELS), max_size=5)) if places else []
    return Record(text, None, sorted({Entity(*place, label) for place, label in spans}), "here")


def write_and_read(tasks, format, offsets="auto"):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "written"
        write_tasks(tasks, path, format, report, offsets=offsets)
        return list(read_records(Source(path), format, ReadOptions(offsets=offsets), Report())), report


def held(record, format):
    """The entities as a format has them: in brat, none begins or ends with a line end or a tab."""
    if format != "brat":
        return record.entities
    found = set()
    for start, end, label in record.entities:
        text = record.text[start:end]
        found.add(Entity(end - len(text.lstrip("\n\r\t")), start + len(text.rstrip("\n\r\t")), label))
    return sorted(found)


@pytest.mark.parametrize("format", WITH_OFFSETS)
@settings(max_examples=40)
@given(st.lists(records(), min_size=1, max_size=4), st.sampled_from(["auto", *UNITS]))
def test_there_and_back(format, given, offsets):
    found, report = write_and_read([Task(record) for record in given], format, offsets)
    assert [record.text for record in found] == [record.text for record in given]
    assert report.n_texts == len(given) and report.n_characters == sum(len(record.text) for record in given)
    if offsets != GRAPHEMES:  # where spans may start within a grapheme cluster
        assert [record.entities for record in found] == [held(record, format) for record in given]
    else:
        assert all(set(back.entities) <= set(held(record, format)) for back, record in zip(found, given))


@pytest.mark.parametrize("format", WITH_OFFSETS)
def test_real_texts(format, data_dir):
    """Weibo with emoji and overlapping spans, in the tool's format and back, every span where it was."""
    source = Source(data_dir / "ner" / "weibo" / "dev.conll")
    given = list(read_records(source, "auto", ReadOptions(repair=True), Report()))
    given = [record._replace(text=f"😀{i}：{record.text}") for i, record in enumerate(given)]
    shift = [record.text.index("：") + 1 for record in given]
    given = [
        record._replace(words=None, entities=[Entity(a + n, b + n, label) for a, b, label in record.entities])
        for n, record in zip(shift, given)
    ]
    for record in given:
        if len(record.entities) > 1:
            record.entities.append(Entity(record.entities[0].start, record.entities[1].end, "从 A 到 B"))
            record.entities.sort()
    found, _ = write_and_read([Task(record) for record in given], format)
    assert [(record.text, record.entities) for record in found] == [(r.text, r.entities) for r in given]
    assert sum(len(record.entities) for record in found) == 389 + sum(len(r.entities) > 2 for r in found)


def test_losses_are_counted(tmp_path):
    report = Report()
    record = Record("南京", ("南京",), [Entity(0, 2, "GPE")], "here", pos=("PROPN",))
    write_tasks([Task(record)], tmp_path / "new" / "x.jsonl", "prodigy", report)
    assert report.labels == {"GPE": 1} and list(report.problems) == ["text with parts of speech: written without them"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    def fail():
        yield Task(Record("南京", None, None, "here"))
        raise RuntimeError

    (tmp_path / "x.jsonl").write_text("before")
    with pytest.raises(RuntimeError):
        write_tasks(fail(), tmp_path / "x.jsonl", "prodigy", Report())
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"] and (tmp_path / "x.jsonl").read_text() == "before"


def test_errors(tmp_path):
    with pytest.raises(
        FormatError, match=r"Unknown format to write: 'xml'. Use one of: prodigy, label-studio, doccano, brat"
    ):
        write_tasks([], tmp_path / "x", "xml", Report())
    with pytest.raises(FormatError, match="expected one of auto, code-points"):
        write_tasks([], tmp_path / "x", "brat", Report(), offsets="bytes")
