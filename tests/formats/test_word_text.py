import pytest

from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.word_text import read_word_text


@pytest.fixture
def read(tmp_path):
    def read(text, report=None, **options):
        (tmp_path / "file").write_bytes(text)
        return list(read_word_text(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_any_white_space_stands_between_words(read):
    report = Report()
    first, second = read("\ufeff  迈向  充满\t希望　的 世纪 \r\n\n \n１９９８年 ，　Iron  Man\n".encode(), report)
    assert first.words == ("迈向", "充满", "希望", "的", "世纪") and first.text == "迈向充满希望的世纪"
    assert second.words == ("１９９８年", "，", "Iron", "Man") and second.text == "１９９８年，Iron Man"
    assert first.segmented and first.pos is None and first.entities is None
    assert (first.place[-2:], second.place[-2:]) == (":1", ":4")
    assert report.n_words == 9 and not report.problems


def test_encoding_and_space_symbol(read):
    [record] = read("台北 New␣York\n".encode("utf-16"), encoding="utf-16", space_symbol="␣")
    assert record.words == ("台北", "New York") and record.text == "台北New York"


@pytest.mark.parametrize("text", [b"", b"\n \n\t\n"])
def test_no_text(read, text):
    with pytest.raises(FormatError, match="file: the file has no text"):
        read(text)
