import pytest
import spacy
from spacy.tokens import DocBin

from spacy_lexner.formats.record import FormatError
from spacy_lexner.formats.spacy_file import list_spacy_files, read_docs


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
