import json
from collections import Counter

import pytest

from spacy_lexner.formats.detect import detect_format
from spacy_lexner.formats.read import list_inputs, read_records
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source, list_sources
from spacy_lexner.formats.task import Task
from spacy_lexner.formats.write import write_tasks


def test_a_collection_of_brat_is_one_input(tmp_path):
    for name in ("1.txt", "1.ann", "2.txt", "2.ann", "annotation.conf"):
        (tmp_path / name).touch()
    for format in ("auto", "brat"):
        [source] = list_inputs(tmp_path, format)
        assert source.path == tmp_path and detect_format(source, ReadOptions()) == "brat"
    assert len(list_inputs(tmp_path, "conll")) == 5
    [single] = list_inputs(tmp_path / "1.ann", "auto")
    assert detect_format(single, ReadOptions()) == "brat"


def test_a_collection_without_any_annotation(tmp_path):
    for name in ("1.txt", "2.txt", "annotation.conf"):
        (tmp_path / name).touch()
    [source] = list_inputs(tmp_path, "brat")
    assert source.path == tmp_path
    assert len(list_inputs(tmp_path, "auto")) == 3


@pytest.mark.parametrize(
    ("format", "data", "options"),
    [
        ("clue", rb'{"text": "ab", "label": {"X\ud800": {"ab": [[0, 1]]}}}', ReadOptions()),
        ("doccano", rb'{"text": "ab", "label": [[0, 2, "X\ud800"]]}', ReadOptions(repair=True)),
        ("prodigy", rb'{"text": "ab", "spans": [{"start": 0, "end": 2, "label": "X\ud800"}]}', ReadOptions()),
        ("label-studio", rb'[{"text": "ab", "label": [{"start": 0, "end": 2, "labels": ["X\ud800"]}]}]', ReadOptions()),
        ("spacy-llm", rb'{"text": "ab", "entities": {"X\ud800": ["ab"]}}', ReadOptions(repair=True)),
        ("conll", b"a\tB-X+2AA-\n", ReadOptions(encoding="utf-7")),
        ("word-text", b"a +2AA-b", ReadOptions(encoding="utf-7")),
        ("word-tags", b"a\tS-X+2AA-\n", ReadOptions(encoding="utf-7")),
    ],
)
def test_half_a_character_is_an_error(tmp_path, format, data, options):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FormatError, match=r"'.*\\ud800.*' has a lone surrogate, half of a character") as raised:
        list(read_records(Source(tmp_path / "file"), format, options, Report()))
    assert str(raised.value).encode("utf8")


def read_all(path):
    report = Report()
    records = list(read_records(Source(path), "auto", ReadOptions(), report))
    assert not report.problems
    return [record.entities for record in records]


GPE = [Entity(2, 4, "GPE")]


@pytest.mark.parametrize(
    "item",
    [
        {"label": [[2, 4, "GPE"]]},
        {"label": {"GPE": {"南京": [[2, 3]]}}},
        {"entities": [{"start": 2, "end": 4, "label": "GPE"}]},
        {"spans": [{"start": 2, "end": 4, "label": "GPE"}], "answer": "accept"},
        {"entities": {"GPE": ["南京"]}},
        {"ner": [{"start": 2, "end": 4, "labels": ["GPE"]}]},
    ],
)
def test_lists_of_every_format(tmp_path, item):
    """Not each of them is Label Studio's, with names that say nothing to it."""
    (tmp_path / "file.json").write_text(json.dumps([{"text": "我在南京", **item}], indent=1))
    assert read_all(tmp_path / "file.json") == [GPE]


@pytest.mark.parametrize("format", ["doccano", "prodigy", "label-studio"])
@pytest.mark.parametrize("first", [None, []])
def test_exports_that_begin_with_a_text_without_entities(tmp_path, format, first):
    tasks = [Task(Record("我在南京", None, entities, "x")) for entities in (first, GPE)]
    write_tasks(tasks, tmp_path / "file.jsonl", format, Report())
    assert read_all(tmp_path / "file.jsonl") == [first, GPE]


def test_an_export_to_spacy_llm_that_begins_with_a_text_without_entities(tmp_path):
    tasks = [Task(Record("我在南京", None, entities, "x")) for entities in ([], GPE)]
    write_tasks(tasks, tmp_path / "file.jsonl", "spacy-llm-v3", Report())
    assert read_all(tmp_path / "file.jsonl") == [[], GPE]


def test_counts_and_errors(tmp_path):
    (tmp_path / "file").write_text("中 O\n国 O\n\n人 O")
    report = Report()
    assert len(list(read_records(Source(tmp_path / "file"), "auto", ReadOptions(), report))) == 2
    assert (report.n_texts, report.n_characters) == (2, 3)
    with pytest.raises(FormatError, match=r"Unknown format 'xml'. Use auto or one of: conll, clue"):
        list(read_records(Source(tmp_path / "file"), "xml", ReadOptions(), report))
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(FormatError, match="empty: the file is empty"):
        list(read_records(Source(tmp_path / "empty"), "auto", ReadOptions(), report))


# Sentences and entities in the originals, and their errors: wrong starts, ends, changes of label.
ORIGINALS = {
    "weibo/train.char.bmes": (1350, 1895, (9, 0, 1)),
    "weibo/dev.char.bmes": (270, 389, (0, 0, 0)),
    "weibo/test.char.bmes": (270, 418, (4, 0, 0)),
    "resume/train.char.bmes": (3821, 13440, (2, 2, 0)),
    "resume/dev.char.bmes": (463, 1497, (0, 0, 0)),
    "resume/test.char.bmes": (477, 1630, (0, 0, 0)),
    "cluener/train.json": (10748, 23971, (0, 0, 0)),  # two of them lie inside a longer one
    "cluener/dev.json": (1343, 3072, (0, 0, 0)),
    "msra/MSRA.zip/msra_test_bio": (3442, 6190, (0, 0, 0)),
}


def read_original(path):
    [source] = list_sources(path)
    report = Report()
    records = list(read_records(source, "auto", ReadOptions(repair=True), report))
    return records, report


@pytest.mark.parametrize("name", ORIGINALS)
def test_real_originals(data_dir, name):
    n_texts, n_entities, defects = ORIGINALS[name]
    records, report = read_original(data_dir / "originals" / name)
    assert len(records) == report.n_texts == n_texts
    assert sum(len(record.entities) for record in records) == n_entities
    kinds = Counter({kind.split(":")[0]: count for kind, count in report.problems.items()})
    assert (
        kinds["entity that does not begin with B"],
        kinds["entity that does not end with E"],
        kinds["label that changes inside an entity"],
    ) == defects


@pytest.mark.slow
def test_the_larger_half_of_msra(data_dir):
    """2.2 million lines of a zip archive, as a stream."""
    [source] = list_sources(data_dir / "originals" / "msra" / "MSRA.zip" / "msra_train_bio")
    report, counts = Report(), Counter()
    for record in read_records(source, "auto", ReadOptions(), report):
        counts.update(entity.label for entity in record.entities)
    assert (report.n_texts, report.n_characters) == (45000, 2171573) and not report.problems
    assert counts == {"LOC": 36860, "ORG": 20584, "PER": 17615}


@pytest.mark.parametrize(
    "name", ["weibo/train", "weibo/dev", "weibo/test", "resume/train", "resume/dev", "resume/test"]
)
def test_originals_agree_with_the_mended_files(data_dir, name):
    original, _ = read_original(data_dir / "originals" / f"{name}.char.bmes")
    mended, report = read_original(data_dir / "ner" / f"{name}.conll")
    assert not any("entity" in kind for kind in report.problems)
    assert [(r.text, r.words, r.entities) for r in original] == [(r.text, r.words, r.entities) for r in mended]


@pytest.mark.parametrize("name", ["train", "dev"])
def test_clue_agrees_with_its_tags(data_dir, name):
    """Without the two entities within a longer one, which tags cannot express."""
    original, _ = read_original(data_dir / "originals" / "cluener" / f"{name}.json")
    tagged, _ = read_original(data_dir / "ner" / "cluener" / f"{name}.conll")
    different = [(a, b) for a, b in zip(original, tagged) if (a.text, a.entities) != (b.text, b.entities)]
    assert [len(a.entities) - len(b.entities) for a, b in different] == ([2] if name == "train" else [])
    assert all(set(b.entities) < set(a.entities) for a, b in different)


@pytest.mark.parametrize("name, n_texts, n_words", [("dev", 500, 12663), ("test", 500, 12012), ("train", 3997, 98608)])
def test_words_and_parts_of_speech(data_dir, name, n_texts, n_words):
    records, report = read_original(data_dir / "pos" / "udc" / f"{name}.conll")
    assert len(records) == n_texts and not report.problems
    assert sum(len(record.entities) for record in records) == n_words
    for record in records:
        assert [e.start for e in record.entities] == [0, *(e.end for e in record.entities[:-1])]


@pytest.mark.parametrize("name", ["dev", "test", "train"])
def test_words_of_conllu_agree_with_the_tags(data_dir, name):
    """The original of the words and parts of speech, and the tags of its characters."""
    original, report = read_original(data_dir / "originals" / "udc" / f"{name}.conll")
    [source] = list_sources(data_dir / "pos" / "udc" / f"{name}.conll")
    tagged = list(read_records(source, "word-tags", ReadOptions(), Report()))
    assert report.problems == {"file without information on spaces: set only between Latin words": 1}
    assert [(r.text, r.words, r.spaces, r.pos) for r in original] == [
        (r.text, r.words, r.spaces, r.pos) for r in tagged
    ]
    assert report.n_words == sum(len(record.words) for record in tagged)
    assert all("".join(record.words) == record.text.replace(" ", "") for record in original)
