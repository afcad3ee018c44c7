"""A small file can take neither much memory nor much time, and a value in it cannot fill an error message."""

import bz2
import gzip
import io
import json
import lzma
import re
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from spacy_lexner.formats.read import list_inputs, read_records
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.limits import LIMITS, QUOTED, limit, quote, shorten
from spacy_lexner.lexicon.readers.any_file import read_any
from spacy_lexner.lexicon.rule_file import read_rules

DIGITS = "1" * 5000
ROW = "{}\t南\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
SUFFIXES = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read(path, format, **options):
    [source] = list_inputs(path, format)
    return list(read_records(source, format, ReadOptions(**options), Report()))


def test_limits_are_set_by_the_environment(monkeypatch):
    assert limit("line") == LIMITS["line"]
    monkeypatch.setenv("LEXNER_LIMITS", "line=5, ratio=7")
    assert (limit("line"), limit("ratio"), limit("file")) == (5, 7, LIMITS["file"])
    for wrong in ("size=3", "line", "line=-1", "line=x"):
        monkeypatch.setenv("LEXNER_LIMITS", wrong)
        with pytest.raises(
            ValueError, match=r"LEXNER_LIMITS: .* is not a limit. The limits and their defaults are unpa"
        ):
            limit("line")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["ratio", "unpacked"])
def test_a_bomb_ends(tmp_path, monkeypatch, suffix, name):
    monkeypatch.setattr("spacy_lexner.lexicon.limits.FREE", 1000)
    monkeypatch.setenv("LEXNER_LIMITS", {"ratio": "ratio=10", "unpacked": "unpacked=100000,ratio=100000"}[name])
    path = tmp_path / f"words.txt{suffix}"
    path.write_bytes(SUFFIXES[suffix]("一二三\n".encode() * 100_000))
    with pytest.raises(LexiconError, match=f"{path}: .*than the limit '{name}' allows .* LEXNER_LIMITS={name}="):
        Lexicon.from_entries(read_any(path, "words"))
    with pytest.raises(LexiconError, match=f"than the limit '{name}' allows"):
        list(read_rules(path))
    with pytest.raises(FormatError, match=f"{path}: .*than the limit '{name}' allows"):
        read(path, "word-text")


def test_a_bomb_in_an_archive_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.lexicon.limits.FREE", 1000)
    with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "一二 三\n" * 100_000)
    with pytest.raises(FormatError, match="than the limit 'ratio' allows"):
        read(tmp_path / "all.zip", "word-text")


@pytest.mark.parametrize(
    "format, text, name, most",
    [
        ("clue", '{"text": "南", "label": {}, "more": [[{"a": []}]]}', "nesting", 5),
        ("label-studio", '[{"data": {"text": "南"}, "annotations": [], "more": [[[]]]}]', "nesting", 4),
        ("spacy-llm", "- text: 南\n  more: [[[]]]", "nesting", 5),
        ("spacy-llm", "# examples\n- text: 南\n- text: 南京", "yaml", 11),
        ("conllu", ROW.format("12345"), "digits", 5),
        ("conllu", ROW.format("1-12345"), "digits", 5),
    ],
)
def test_limits_can_be_raised_and_are_named(tmp_path, monkeypatch, format, text, name, most):
    path = tmp_path / "file"
    path.write_text(text, "utf8")
    monkeypatch.setenv("LEXNER_LIMITS", f"{name}={most}")
    read(path, format)
    monkeypatch.setenv("LEXNER_LIMITS", f"{name}={most - 1}")
    with pytest.raises(FormatError, match=f"file.* than the limit '{name}' allows .* LEXNER_LIMITS={name}=NUMBER"):
        read(path, format)


def test_digits_of_brat_and_of_headers(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("南京")
    (tmp_path / "a.ann").write_text("T1\tX 00 01\t南")
    (tmp_path / "words.vec").write_text("01 3\n南京 1 2 3\n")
    assert read(tmp_path / "a.ann", "brat")[0].entities and len(list(read_any(tmp_path / "words.vec", "vectors"))) == 1
    monkeypatch.setenv("LEXNER_LIMITS", "digits=1")
    with pytest.raises(FormatError, match=r"a\.ann:1: '00' has more digits than the limit 'digits' allows \(1\)"):
        read(tmp_path / "a.ann", "brat")
    with pytest.raises(LexiconError, match=r"words\.vec:1: '01' has more digits than the limit 'digits' allows"):
        list(read_any(tmp_path / "words.vec", "vectors"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_without_end(tmp_path, monkeypatch, encoding):
    monkeypatch.setenv("LEXNER_LIMITS", "line=1000")
    (tmp_path / "file").write_text("一 二\n" + "三" * 2000, encoding)
    with pytest.raises(FormatError, match=r"file:2: a line of more .* than the limit 'line' allows \(1000\)"):
        read(tmp_path / "file", "word-text", encoding=encoding)


def test_too_many_words(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("\n".join("一二三四五"))
    monkeypatch.setenv("LEXNER_LIMITS", "entries=5")
    assert len(Lexicon.from_entries(read_any(tmp_path / "words.txt", "words"))) == 5
    monkeypatch.setenv("LEXNER_LIMITS", "entries=4")
    with pytest.raises(LexiconError, match="more words than the limit 'entries' allows"):
        Lexicon.from_entries(read_any(tmp_path / "words.txt", "words"))


DEEP = "[" * 100_000 + "]" * 100_000
CASES = {
    "conllu": [ROW.format(DIGITS), ROW.format(f"1-{DIGITS}"), ROW.replace("NOUN", "N" * 10_000).format(1), "南" * 9999],
    "clue": [f'{{"text": "南", "label": {{"X": {{"南": [[0, {DIGITS}]]}}}}}}', f'{{"text": "南", "label": {DEEP}}}'],
    "prodigy": [
        '{"text": "南", "spans": [{"start": 0, "end": 1, "label": 3}]}',
        '{"text": "南", "spans": [{"start": 0, "end": 1, "label": ["X"]}]}',
        '{"text": "南", "spans": [{"start": 0, "end": 1, "label": "X", "text": 3}]}',
        f'{{"text": "南", "spans": [{{"start": {DIGITS}, "end": 1, "label": "X"}}]}}',
        f'{{"text": "南", "answer": "{DIGITS}"}}',
    ],
    "doccano": [
        f'{{"text": "南", "label": [[0, 1, "X", "{DIGITS}"]]}}',
        f'{{"text": "南", "label": [[0, {DIGITS}, "X"]]}}',
    ],
    "label-studio": [f'[{{"data": {{"text": "南"}}, "annotations": {DEEP}}}]', f'[{{"data": {{"text": {DIGITS}}}}}]'],
    "conll": [f"南 B-{DIGITS}-{DIGITS} {DIGITS}\n", f"南 Q-{DIGITS}\n"],
    "spacy-llm": [f'[{{"text": "南", "spans": [{{"text": "{DIGITS}", "label": "X", "is_entity": true}}]}}]'],
}


@pytest.mark.parametrize(("format", "text"), [(name, text) for name, texts in CASES.items() for text in texts])
def test_errors_are_short_and_name_the_file(tmp_path, format, text):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read(path, format)
    assert str(path) in str(error.value) and len(str(error.value)) < len(str(path)) + 12 * QUOTED


def test_errors_of_brat_are_short(tmp_path):
    (tmp_path / "a.txt").write_text("南")
    for line in (f"T1\tX 0 {DIGITS}\t南", f"T1\t{DIGITS} 0 7\t南", "T" * 300_000):
        (tmp_path / "a.ann").write_text(line)
        with pytest.raises(FormatError, match=r"a\.ann") as error:
            read(tmp_path / "a.ann", "brat")
        assert len(str(error.value)) < 1000


@pytest.mark.parametrize("header", [f"{DIGITS} 3", f"2 {DIGITS}", "99999999999 3", "2 99999999"])
def test_a_header_that_lies(tmp_path, header):
    (tmp_path / "words.vec").write_text(f"{header}\n南京 1 2 3\n")
    with pytest.raises(LexiconError, match=r"words\.vec") as error:
        Lexicon.from_entries(read_any(tmp_path / "words.vec", "vectors"))
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("name", ["a.zip", "a.txt.gz", "a.txt.bz2", "a.txt.xz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "other"])
def test_damaged_archives(tmp_path, name, damage):
    content = ("一 二\n" * 2000 + "三").encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", content)
    data = bytearray(buffer.getvalue() if name == "a.zip" else SUFFIXES[f".{name.rpartition('.')[2]}"](content))
    for i in range(len(data) // 3, len(data) // 3 + 4):
        data[i] ^= 0xFF
    damaged = {"cut": data[: len(data) // 2], "flipped": data, "other": b"no archive at all"}[damage]
    (tmp_path / name).write_bytes(damaged)
    with pytest.raises(FormatError, match=name):
        read(tmp_path / name, "word-text")


def test_a_list_is_read_item_by_item(tmp_path):
    path = tmp_path / "tasks.json"
    with path.open("w") as file:
        file.write("[")
        for i in range(3000):
            file.write((", \n" if i else "") + json.dumps({"data": {"text": f"南京{i}" * 1000}}))
        file.write("]\n")
    tracemalloc.start()
    [source] = list_inputs(path, "label-studio")
    assert sum(1 for _ in read_records(source, "label-studio", ReadOptions(), Report())) == 3000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 3


@pytest.mark.parametrize("text", ["[", "[1", "[{}", "[{} {}]", "[{},]", "[{}] x", "{}", "[nul]", "[12", '["a'])
def test_what_is_no_list(tmp_path, text):
    (tmp_path / "tasks.json").write_text(text)
    with pytest.raises(FormatError, match=r"tasks\.json"):
        read(tmp_path / "tasks.json", "label-studio")


def test_quotes_are_short():
    assert quote("南京") == "'南京'" and quote(["a"]) == "['a']"
    assert len(quote("南" * 9999)) == len(quote(list(range(9999)))) == QUOTED


@pytest.mark.parametrize("name", ["security.md", "security.zh.md"])
def test_the_page_has_every_limit(name):
    page = (Path(__file__).parents[2] / "docs" / name).read_text("utf8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, flags=re.M)
    assert {key: int(value.replace(",", "")) for key, value in rows} == LIMITS


def test_a_text_that_is_shown_can_be_written():
    assert shorten("南京\ud800") == "南京\\ud800"
    assert shorten("京" * 200) == "京" * 79 + "…"
