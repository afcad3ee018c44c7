import pytest
import spacy
from spacy.tokens import DocBin

from spacy_lexner.formats.record import FormatError
from spacy_lexner.formats.spacy_file import list_spacy_files, read_all, read_annotated, read_docs


def test_files_and_their_docs(tmp_path):
    (tmp_path / "below").mkdir()
    for path in ("b.spacy", "below/a.spacy"):
        DocBin(docs=[spacy.blank("zh")(path)]).to_disk(tmp_path / path)
    files = list_spacy_files(tmp_path)
    assert [doc.text for file in files for doc in read_docs(file)] == ["b.spacy", "below/a.spacy"]
    assert list_spacy_files(tmp_path / "b.spacy") == [tmp_path / "b.spacy"]


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No \.spacy file in"):
        list_spacy_files(tmp_path)
    (tmp_path / "x.spacy").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"x\.spacy: not a \.spacy file, or a damaged one"):
        list(read_docs(tmp_path / "x.spacy"))


def test_annotated_docs(tmp_path):
    nlp = spacy.blank("zh")
    plain, annotated = nlp("长江"), nlp("黄河")
    annotated.set_ents([])
    DocBin(docs=[plain, nlp("")]).to_disk(tmp_path / "a.spacy")
    with pytest.raises(ValueError, match="no text is annotated with entities"):
        list(read_annotated(tmp_path))
    DocBin(docs=[plain, annotated]).to_disk(tmp_path / "b.spacy")
    assert [doc.text for doc in read_all(tmp_path)] == ["长江", "", "长江", "黄河"]
    assert [doc.text for doc in read_annotated(tmp_path)] == ["黄河"]
