import bz2
import gzip
import io
import json
import sys

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_lexner.formats.record import FormatError
from spacy_lexner.scale.inputs import list_inputs, read_records
from spacy_lexner.scale.records import InputOptions, Progress

ROWS = [{"id": 7, "text": "在南京", "源": "甲"}, {"text": "看\u2028长江", "n": None}]


def read(*names, progress=None, **options):
    options = InputOptions(**options)
    return list(read_records(list_inputs(map(str, names), options), options, progress))


def texts(records):
    return [record.text for record in records if record.fault is None]


@pytest.mark.parametrize("suffix, pack", [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_lines_of_text(tmp_path, suffix, pack):
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack("\ufeff在南京\r\n\n看\u2028长江\n末".encode()))
    records = read(path)
    assert texts(records) == ["在南京", "看\u2028长江", "末"]
    assert [record.place for record in records] == [f"{path}:{number}" for number in (1, 3, 4)]


def test_zstandard(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    with arrow.output_stream(str(tmp_path / "a.jsonl.zst"), compression="zstd") as file:
        file.write(b"".join(json.dumps(row).encode() + b"\n" for row in ROWS))
    assert texts(read(tmp_path / "a.jsonl.zst")) == ["在南京", "看\u2028长江"]


def test_json_lines_keep_other_fields_and_ids(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), "utf8")
    first, second = read(path)
    assert (first.id, first.fields) == (7, {"id": 7, "源": "甲"})
    assert (second.id, second.fields) == (f"{path}:2", {"n": None})


def test_csv(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeffid,body\n1,"在\n南京"\n2\n3,长江\n', "utf8")
    first, second, third = read(tmp_path / "a.csv", column="body")
    assert (first.text, first.id, third.text) == ("在\n南京", "1", "长江")
    assert "number of fields differs from the header's (1; expected 2)" in second.fault
    with pytest.raises(FormatError, match=r"no column 'text'.*id, body"):
        read(tmp_path / "a.csv")


def test_csv_with_bytes_that_are_not_utf8(tmp_path):
    raw = 'id,text\n1,在南京\n2,"看\n'.encode() + b"\xff" + '江"\n3,长江\n'.encode()
    (tmp_path / "a.csv").write_bytes(raw)
    first, second, third = read(tmp_path / "a.csv")
    assert (first.text, third.text) == ("在南京", "长江")
    assert f"byte {raw.index(0xFF)} of the file is not UTF-8" in second.fault and second.place.endswith("a.csv:3")


def test_a_file_that_cannot_be_read_is_found_before_the_others_are(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"text": ["在南京"] * 2000})
    parquet.write_table(table, tmp_path / "a.parquet")
    for wrong, written in (
        ("no column 'text'", table.rename_columns(["body"])),
        ("not a complete Parquet file", table),
    ):
        parquet.write_table(written, tmp_path / "b.parquet")
        if written is table:
            (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-9])
        with pytest.raises(FormatError, match=rf"b\.parquet .*{wrong}"):
            list_inputs([str(tmp_path)], InputOptions())
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[4:60] = bytes(56)  # a page within
    (tmp_path / "b.parquet").write_bytes(data)
    with pytest.raises(FormatError, match=r"b\.parquet:1: the Parquet file is damaged"):
        read(tmp_path / "b.parquet")
    (tmp_path / "a.csv").write_text("id,body\n1,在\n", "utf8")
    with pytest.raises(FormatError, match=r"a\.csv has no column 'text'"):
        list_inputs([str(tmp_path / "a.csv")], InputOptions())


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"text": ["在南京", None, "长江"], "n": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "a.parquet")
    progress = Progress([str(tmp_path / "a.parquet")])
    first, second, third = read(tmp_path / "a.parquet", progress=progress)
    assert (first.text, first.fields, third.text) == ("在南京", {"n": 1}, "长江")
    assert "NoneType; expected a string" in second.fault
    assert progress.done == progress.total > 0
    with pytest.raises(FormatError, match="no column 'body'"):
        read(tmp_path / "a.parquet", column="body")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:200])
    with pytest.raises(FormatError, match=r"b\.parquet is not a complete Parquet file"):
        read(tmp_path / "b.parquet")


def test_spacy(tmp_path):
    docs = [spacy.blank("zh")(text) for text in ("在南京", "长江")]
    docs[1].user_data["lex_record"] = {"id": "b", "n": 1}  # as annotate writes it
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    first, second = read(tmp_path / "a.spacy")
    assert (first.text, first.id, second.text) == ("在南京", f"{tmp_path / 'a.spacy'}:1", "长江")
    assert (second.id, second.fields) == ("b", {"id": "b", "n": 1})


def test_what_holds_no_text_has_its_place_and_the_reason(tmp_path):
    lines = [
        b'{"text": "a"}',
        b'{"text": 1}',
        b'["a"]',
        b"{",
        b'{"body": "a"}',
        b'{"text": "\\ud800"}',
        b'{"text": "\xff"}',
    ]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    good, *bad = read(tmp_path / "a.jsonl")
    assert good.fault is None and [record.place.rpartition(":")[2] for record in bad] == list("234567")
    expected = ["of type int", "JSON object, got list", "invalid JSON", "no field 'text'; it has 'body'", "surrogate"]
    offset = sum(map(len, lines[:6])) + 6 + lines[6].index(b"\xff")
    for record, part in zip(bad, [*expected, f"byte {offset} of the file is not UTF-8"]):
        assert part in record.fault


@pytest.mark.parametrize("rest", [r'"id": "\ud800"', r'"a": [{"b": "x\udfff"}]', r'"\ud800": 1'])
def test_half_characters_in_other_fields(tmp_path, rest):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "a", {rest}}}', "utf8")
    [record] = read(tmp_path / "a.jsonl")
    assert "has a lone surrogate" in record.fault and record.fields == {} and record.id == record.place
    json.dumps(record, ensure_ascii=False).encode("utf8")


def test_damaged_archive(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("在南京\n".encode() * 9999)[:-20])
    with pytest.raises(FormatError, match=r"a\.txt\.gz is damaged"):
        read(tmp_path / "a.txt.gz")


def test_folders_patterns_and_unknown_formats(tmp_path):
    for name in ("b.txt", "a.txt", "c.md", "in/d.jsonl.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    options = InputOptions()
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt", "in/d.jsonl.gz")]
    assert list_inputs([str(tmp_path)], options) == names
    assert list_inputs([str(tmp_path / "*.txt")], options) == names[:2]
    with pytest.raises(FormatError, match=r"c\.md: the format 'md' is unknown"):
        list_inputs([str(tmp_path / "c.md")], options)
    assert list_inputs([str(tmp_path / "c.md")], InputOptions(format="txt")) == [str(tmp_path / "c.md")]
    with pytest.raises(FormatError, match="no such file"):
        list_inputs([str(tmp_path / "*.csv")], options)


def test_files_below_the_output(tmp_path):
    for name in ("a.txt", "out/part-00000.jsonl", "output/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    options, output = InputOptions(), tmp_path / "in" / ".." / "out"
    expected = [str(tmp_path / name) for name in ("a.txt", "output/b.txt")]
    assert list_inputs([str(tmp_path)], options, output) == expected
    assert list_inputs([str(tmp_path / "**" / "*.*")], options, output) == expected
    named = str(tmp_path / "out" / "part-00000.jsonl")
    assert list_inputs([named], options, output) == [named]
    with pytest.raises(FormatError, match="no such file"):
        list_inputs([str(tmp_path / "out")], options, output)


def test_standard_input(monkeypatch):
    def places(text, **options):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return [(record.place, record.text) for record in read("-", **options)]

    assert places("在南京\n看长江\n") == [("stdin:1", "在南京"), ("stdin:2", "看长江")]
    assert places("n\ttext\n1\t在,南京\n", format="tsv") == [("stdin:2", "在,南京")]


@pytest.mark.parametrize("format", ["parquet", "spacy"])
def test_what_standard_input_cannot_hold(format):
    with pytest.raises(FormatError, match=f"Standard input cannot be read as '{format}'.* Name the file"):
        list_inputs(["-"], InputOptions(format=format))


def test_files_called_like_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("在南京\n", "utf8")
    assert texts(read("./-", format="txt")) == ["在南京"]


def test_progress_is_told_while_reading(tmp_path):
    (tmp_path / "a.txt").write_bytes("在南京\n".encode() * 50_000)
    progress, seen = Progress([str(tmp_path / "a.txt")]), []
    options = InputOptions()
    for _ in read_records([str(tmp_path / "a.txt")], options, progress):
        seen.append(progress.done)
    assert seen == sorted(seen) and len(set(seen)) > 3 and progress.done == progress.total
