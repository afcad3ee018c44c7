import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_lexner.report.gold import GoldText, mentions, read_gold, to_gold
from spacy_lexner.visualize.lattice import Mark


def test_reading(test_file, gold, tmp_path):
    assert list(read_gold(test_file)) == gold
    DocBin(docs=[spacy.blank("zh")("没有标注"), Doc(spacy.blank("zh").vocab)]).to_disk(tmp_path / "zz.spacy")
    assert list(read_gold(tmp_path)) == gold, "the annotated texts of a folder"
    assert mentions(gold) == {"王明", "南京", "李雷", "南京市", "王明公司", "北京"}


def test_stretches_without_annotation():
    doc = spacy.blank("en")("Ann met Bob in Rome today")
    doc.set_ents([Span(doc, 0, 1, "PER")], missing=[Span(doc, 2, 4), Span(doc, 5, 6)], default="outside")
    assert to_gold(doc) == GoldText(doc.text, [Mark(0, 3, "PER")], [(8, 14), (20, 25)])


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"[Nn]o \.spacy file"):
        list(read_gold(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"[Nn]o \.spacy file"):
        list(read_gold(tmp_path / "none.spacy"))
    (tmp_path / "a.spacy").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a\.spacy: not a \.spacy file"):
        list(read_gold(tmp_path))
    DocBin(docs=[spacy.blank("zh")("没有标注")]).to_disk(tmp_path / "a.spacy")
    with pytest.raises(ValueError, match="no text is annotated"):
        list(read_gold(tmp_path))
