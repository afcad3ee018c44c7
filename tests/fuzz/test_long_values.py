"""Each part of a valid input in turn is replaced by a very long value: the message about it is short."""

import json
import re
import warnings

import pytest
import srsly
from fuzzing import places
from samples import LINES, LISTS, READERS, RULES, TABLES, TEXTS, read, write_input
from small_encoders import GOLD, make_pipeline, small_lexicon

from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.integrity.seal import MAGIC, SealError, seal_bytes
from spacy_lexner.lexicon import Lexicon, LexiconError, Matcher
from spacy_lexner.lexicon.checksum import checksum_of
from spacy_lexner.lexicon.limits import QUOTED
from spacy_lexner.lexicon.rule_file import read_rules
from spacy_lexner.scale.inputs import read_records as read_texts
from spacy_lexner.scale.records import InputOptions

LONG = "x" * 5000
VALUES = [LONG, [LONG] * 9, {LONG: LONG}, {"start": LONG}, int("7" * 4000), -(10**30), list(range(5000)), 0.5]
PLAIN = ReadOptions()
MOST = 1500  # characters of an error with several values


def assert_short(said):
    runs = re.findall(r"x+|7+|(?:\d{1,4}, ?)+", said)
    assert max(map(len, runs), default=0) <= QUOTED and len(said) < MOST, f"{len(said)} characters: {said[:300]}"


def say(function, *errors):
    """A function's error message, or its result."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            said = function()
    except errors as error:
        said = str(error)
    for each in [said, *(str(warning.message) for warning in caught)]:
        if isinstance(each, str):
            assert_short(each)


def changed_values(value, values=VALUES):
    box = [value]
    for number in range(len(list(places(box)))):
        for other in values:
            changed = json.loads(json.dumps(box))
            parent, key = list(places(changed))[number]
            parent[key] = other
            yield changed[0]
        changed = json.loads(json.dumps(box))
        parent, key = list(places(changed))[number]
        if isinstance(parent, dict):
            parent[LONG] = parent.pop(key)
            yield changed[0]


def changed_texts(text):
    parts = re.split(r"([\s,-]+)", text)
    for i in range(len(parts)):
        for value in (LONG, "7" * 4000, f"{LONG} {LONG}\t{LONG}"):
            yield "".join([*parts[:i], value, *parts[i + 1 :]])


def write_json(items, by_lines):
    return "\n".join(map(json.dumps, items)) if by_lines and isinstance(items, list) else json.dumps(items)


@pytest.mark.parametrize("format", sorted({*LINES, *LISTS, *TEXTS}))
def test_formats(format, tmp_path):
    by_lines = format in LINES
    roots = [list(map(json.loads, LINES[format]))] if by_lines else map(json.loads, LISTS.get(format, []))
    inputs = [write_json(changed, by_lines) for root in roots for changed in changed_values(root)]
    inputs += [changed for text in TEXTS.get(format, []) for changed in changed_texts(text)]
    for text in inputs:
        report = Report()
        path = write_input(tmp_path / "in", format, text.encode("utf8"))
        say(lambda: read(path, format, ReadOptions(repair=True), report), FormatError)  # noqa: B023
        say(lambda: read(path, format, PLAIN, Report()), FormatError)  # noqa: B023
        say(lambda: read(path, "auto", PLAIN, Report()), FormatError)  # noqa: B023
        for line in report.describe():
            runs = re.findall("x+", line)
            assert max(map(len, runs), default=0) <= QUOTED, line[:300]


def test_brat(tmp_path):
    ann = "T1\tGPE 2 4\t南京\nT2\tX 0 1;2 3\t我 南\nR1\tR Arg1:T1\n"
    for changed in changed_texts(ann):
        path = write_input(tmp_path / "in", "brat", (changed.encode(), "我在南京".encode()))
        say(lambda: read(path, "brat", PLAIN, Report()), FormatError)  # noqa: B023


@pytest.mark.parametrize("suffix", sorted(TABLES))
def test_texts_to_annotate(suffix, tmp_path):
    path = tmp_path / f"input.{suffix}"
    for text in TABLES[suffix]:
        for changed in changed_texts(text):
            path.write_text(changed, "utf8")
            say(lambda: "; ".join(each.fault or "" for each in read_texts([str(path)], InputOptions())), FormatError)


@pytest.mark.parametrize("kind", sorted(READERS))
def test_sources_of_lexicons(kind, tmp_path):
    reader, texts = READERS[kind]
    path = tmp_path / "file.txt"
    for text in texts:
        for changed in changed_texts(text):
            path.write_text(changed, "utf8")
            say(lambda: Lexicon.from_entries(reader(path), strict=True), LexiconError)


def test_rules(tmp_path):
    for changed in changed_texts(RULES[0]):
        (tmp_path / "rules.tsv").write_text(changed, "utf8")
        say(lambda: list(read_rules(tmp_path / "rules.tsv")), LexiconError)


def test_lexicons():
    data = small_lexicon().to_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    manifest = json.loads(header.pop("__metadata__")["manifest"])

    def use(arrays, changed):
        if isinstance(changed, dict):
            changed["checksum"] = checksum_of(changed)
        head = json.dumps({**arrays, "__metadata__": {"manifest": json.dumps(changed)}}).encode("utf8")
        Matcher(Lexicon.from_bytes(len(head).to_bytes(8, "little") + head + body)).match(["武汉市长江大桥很长"])

    for changed in changed_values(manifest):
        say(lambda: use(header, changed), LexiconError)  # noqa: B023
    for arrays in changed_values(header):
        if isinstance(arrays, dict):
            say(lambda: use(arrays, manifest), LexiconError)  # noqa: B023


def test_components():
    nlp = make_pipeline("FLAT", steps=1)
    for name in ("lex_matcher", "lex_ner"):
        sealed = nlp.get_pipe(name).to_bytes()
        message = srsly.msgpack_loads(sealed[len(MAGIC) + 32 :])
        for changed in changed_values(srsly.json_loads(message["cfg"]), VALUES[:3]):
            packed = seal_bytes(srsly.msgpack_dumps({**message, "cfg": json.dumps(changed).encode("utf8")}))

            def use(packed=packed):
                nlp.get_pipe(name).from_bytes(packed)  # noqa: B023
                list(nlp.pipe(text for text, _ in GOLD[:1]))

            say(use, SealError, LexiconError, ValueError)
        nlp.get_pipe(name).from_bytes(sealed)
