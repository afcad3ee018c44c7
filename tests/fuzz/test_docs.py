"""Randomly mutated `.spacy` files, and Docs with forged annotations of ours: an error that names them, or Docs."""

import struct
import zlib

import pytest
import srsly
from fuzzing import PACKABLE, VALUES, changed_bytes, changed_value, fuzz, only
from hypothesis import strategies as st
from small_encoders import GOLD, make_pipeline
from spacy.tokens import DocBin

from spacy_lexner.candidates.storage import HEADER
from spacy_lexner.formats.docs import read_doc
from spacy_lexner.formats.record import FormatError
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.spacy_file import read_docs

KEYS = ["lex_matches", "lex_conflicts", "lex_alternatives", "lex_entity_words", "lex_entities", "lex_offsets"]


@pytest.fixture(scope="module")
def nlp():
    return make_pipeline("FLAT")


def test_spacy_files(nlp, tmp_path):
    """The packed bytes, or the message in them with parts changed."""
    packed = DocBin(docs=[nlp(text) for text, _ in GOLD], store_user_data=True).to_bytes()
    message = srsly.msgpack_loads(zlib.decompress(packed))
    path = tmp_path / "file.spacy"

    def pack(value):
        return zlib.compress(srsly.msgpack_dumps(value))

    def check(data):
        path.write_bytes(data)
        with only(FormatError):
            for doc in read_docs(path):
                read_doc(doc, "here", Report())

    found = [pack({**message, "cats": []}), zlib.compress(bytes(70_000_000), 9)]
    fuzz(check, changed_bytes([packed]) | changed_value([message], PACKABLE).map(pack), found)


def candidates(version, n_characters):
    """Packed candidate words with arbitrary numbers."""
    number = st.integers(-2, n_characters + 2) | st.sampled_from([-(2**31), 2**31 - 1])
    triples = st.lists(st.tuples(number, number, st.integers(0, 2**64 - 1)), max_size=6)

    def pack(drawn):
        rows, version = drawn
        columns = list(zip(*rows)) or [(), (), ()]
        n = len(rows)
        body = struct.pack(f"<{n}i{n}i{n}Q", *columns[0], *columns[1], *columns[2])
        return HEADER.pack(version, n_characters, n) + body

    return st.tuples(triples, st.sampled_from([version, 0, 2**64 - 1])).map(pack)


@pytest.mark.parametrize("encoder", ["FLAT", "LEBERT", "ERNIE"])
def test_user_data(encoder):
    nlp = make_pipeline(encoder)
    text = GOLD[0][0]
    version = nlp.get_pipe("lex_matcher").source.matcher.version
    expected = [(ent.text, ent.label_) for ent in nlp(text).ents]
    matches = candidates(version, len(text)) | st.binary(max_size=40)
    forged = st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES), st.integers(0, 9), matches)

    def check(drawn):
        key, value, start, packed = drawn
        doc = nlp.make_doc(text)
        place = (start, start + 2) if key == "lex_offsets" else (None, None)
        doc.user_data[("._.", "lex_matches", None, None)] = packed
        if key != "lex_matches":
            doc.user_data[("._.", key, *place)] = value
        with only(ValueError):
            show(doc)
        with only(ValueError):
            [doc] = nlp.get_pipe("lex_ner").pipe([doc])
        [doc] = nlp.pipe([doc])
        assert [(ent.text, ent.label_) for ent in doc.ents] == expected
        with only(ValueError):  # what no pipe of this pipeline writes stays
            show(doc)

    found = [("lex_conflicts", None, 0, b""), ("lex_alternatives", 3, 0, b""), ("lex_offsets", "a", 0, b"")]
    found += [("lex_matches", None, 0, HEADER.pack(version, len(text), 1) + struct.pack("<iiQ", -3, 2**31 - 1, 7))]
    fuzz(check, forged, found)


def show(doc):
    """Read everything that our pipes set on a Doc."""
    list(doc._.lex_matches or ())
    list(doc._.lex_conflicts)
    list(doc._.lex_alternatives)
    for ent in doc.ents:
        list(ent._.lex_words or ()), ent._.lex_start, ent._.lex_end
