"""Randomly mutated word lists, vectors, tables, rules and saved lexicons: a lexicon, or a LexiconError."""

import json

import pytest
from fuzzing import changed_bytes, changed_value, fuzz, only
from hypothesis import strategies as st
from samples import READERS, RULES
from small_encoders import small_lexicon

from spacy_lexner.lexicon import Lexicon, LexiconError, Matcher
from spacy_lexner.lexicon.checksum import checksum_of
from spacy_lexner.lexicon.readers import (
    read_entity_vectors,
)
from spacy_lexner.lexicon.rule_file import collect_rules, read_rules, write_rules


@pytest.mark.parametrize("kind", sorted(READERS))
def test_readers(kind, tmp_path):
    reader, texts = READERS[kind]
    path = tmp_path / "file.txt"

    def check(data):
        path.write_bytes(data)
        with only(LexiconError):
            lexicon = Lexicon.from_entries(reader(path))
            entries = list(lexicon.entries())
            assert all(entry.word in lexicon for entry in entries)
            assert list(map(str, Lexicon.from_bytes(lexicon.to_bytes()).entries())) == list(map(str, entries))

    fuzz(check, changed_bytes([text.encode() for text in texts]))


@pytest.mark.parametrize("part", ["ids", "names", "vectors"])
def test_entity_vectors(part, tmp_path):
    files = {"ids": b"2\nQ1\t0\nQ2\t1\n", "names": "南京\tQ1\n北京\tQ2\t3\n".encode(), "vectors": b"1 2 3\n4 5 6\n"}

    def check(data):
        for name, content in {**files, part: data}.items():
            (tmp_path / name).write_bytes(content)
        paths = {name: tmp_path / name for name in files}
        with only(LexiconError):
            Lexicon.from_entries(read_entity_vectors(**paths))

    fuzz(
        check,
        changed_bytes([files[part]]),
        found=[b"\r\n", "2\nQ1\t²1\nQ2\t0\n".encode(), b"Q1\t" + b"9" * 5000 + b"\n"],
    )


def test_rule_files(tmp_path):
    path = tmp_path / "rules.tsv"

    def check(data):
        path.write_bytes(data)
        with only(LexiconError):
            rules = collect_rules(read_rules(path))
            path.write_text(write_rules(rules), "utf8")
            assert collect_rules(read_rules(path)) == rules

    found = ["南京\t" + "9" * 5000, "南京\tforce\t" + "a\x07" * 5000, "南京\tprefer\tGPE\t" + "x" * 5000]
    fuzz(check, changed_bytes([text.encode() for text in RULES]), [text.encode() for text in found])


def test_saved_lexicons():
    """Bytes changed anywhere, or the manifest with a matching checksum: an untrusted lexicon is opened and used."""
    data = small_lexicon().to_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    manifest = json.loads(header["__metadata__"]["manifest"])

    def forge(drawn):
        forged, changed = drawn
        if isinstance(changed, dict):
            changed["checksum"] = checksum_of(changed)
        head = json.dumps({**forged, "__metadata__": {"manifest": json.dumps(changed)}}).encode("utf8", "surrogatepass")
        return len(head).to_bytes(8, "little") + head + body

    def check(changed):
        with only(LexiconError):
            lexicon = Lexicon.from_bytes(changed)
            list(lexicon.entries())
            Matcher(lexicon).match(["武汉市长江大桥很长", "张三"])

    arrays = {key: value for key, value in header.items() if key != "__metadata__"}
    heads = changed_value([arrays]).filter(lambda value: isinstance(value, dict))
    forged = st.tuples(st.just(arrays) | heads, changed_value([manifest]))
    wrong = {"normalization": {"case": {}, "width": False}}, {"format_version": "\ud800"}
    found = [forge((arrays, {**manifest, **each})) for each in wrong]
    for name, place in (("vectors.vector_rows", 0), ("index.rows", 4), ("index.entity_id_offsets", 8)):
        start = 8 + length + arrays[name]["data_offsets"][0] + place
        found.append(data[:start] + b"\x3f" + data[start + 1 :])  # points outside
    fuzz(check, changed_bytes([data]) | forged.map(forge), found)
