import pytest
import spacy
from spacy.tokens import DocBin

from spacy_lexner.cli.texts import read_texts
from spacy_lexner.formats.record import FormatError


@pytest.fixture
def folder(tmp_path):
    nlp = spacy.blank("zh")
    DocBin(docs=[nlp("一二"), nlp("三")]).to_disk(tmp_path / "a.spacy")
    (tmp_path / "b.txt").write_text("四 O\n\n五\n")
    (tmp_path / "c.conll").write_text("六 O\n七 B-X\n\n八 O\n")
    return tmp_path


def test_every_kind_of_file(folder):
    assert list(read_texts([folder])) == ["一二", "三", "四 O", "五", "六七", "八"]
    assert list(read_texts([folder / "c.conll", folder / "a.spacy"])) == ["六七", "八", "一二", "三"]
    assert list(read_texts([folder / "c.conll"], "text")) == ["六 O", "七 B-X", "八 O"]


def test_no_text(tmp_path):
    (tmp_path / "a.txt").write_text(" \n\n")
    with pytest.raises(FormatError, match=r"no text in .*a\.txt"):
        list(read_texts([tmp_path / "a.txt"]))
    with pytest.raises(FileNotFoundError):
        list(read_texts([tmp_path / "none"]))
