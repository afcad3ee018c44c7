import pytest
import spacy
from catalogue import _remove
from spacy.tokens import Span
from srsly.msgpack import msgpack_encoders

from spacy_lexner.formats.spacy_file import read_docs, write_docs


def test_span_groups_survive_and_codecs_are_found_once(tmp_path, monkeypatch):
    doc, n_calls = spacy.blank("zh")("长江流域"), []

    def find():
        n_calls.append(1)
        return {"mine": lambda value, chain=None: value if chain is None else chain(value), "numpy": None}

    monkeypatch.setattr(msgpack_encoders, "entry_points", True)
    monkeypatch.setattr(msgpack_encoders, "get_entry_points", find)
    doc.spans["names"] = [Span(doc, 0, 2, label="LOC"), Span(doc, 0, 4, label="LOC")]
    try:
        for name in ("a", "b"):
            write_docs(iter([doc, doc]), tmp_path / f"{name}.spacy")
            spans = [span for found in read_docs(tmp_path / f"{name}.spacy") for span in found.spans["names"]]
            assert [(span.text, span.label_) for span in spans] == [("长江", "LOC"), ("长江流域", "LOC")] * 2
        codecs = msgpack_encoders.get_all()
        assert len(n_calls) == 1 and set(codecs) >= {"mine", "numpy"}
        assert codecs["numpy"] is not None  # srsly's own is kept
    finally:
        _remove(("srsly", "msgpack_encoders", "mine"))


def test_components_with_attributes_find_codecs():
    msgpack_encoders.entry_points = True
    spacy.blank("zh").add_pipe("lex_matcher")
    assert not msgpack_encoders.entry_points


def test_a_broken_package_does_not_prevent_a_component(monkeypatch):
    def fail():
        raise ImportError("a package's own error")

    monkeypatch.setattr(msgpack_encoders, "entry_points", True)
    monkeypatch.setattr(msgpack_encoders, "get_entry_points", fail)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["长江"])
    assert [match.word for match in nlp("长江")._.lex_matches] == ["长江"]
    with pytest.raises(ImportError, match="a package's own error"):
        nlp("长江").to_bytes()
