import pytest

from spacy_lexner.formats.record import LOST_CHARACTERS, FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.words import guess_spaces, make_word_record, read_word_tags, read_word_text, universal


@pytest.mark.parametrize(
    "words, text",
    [
        (["Iron", "Man", "的"], "Iron Man的"),
        (["95", "km/h"], "95 km/h"),
        (["20", "%", "，", "30"], "20%，30"),
        (["第", "1", "章"], "第1章"),
        (["Ａ", "Ｂ"], "Ａ Ｂ"),
        (["一", "二"], "一二"),
        (["École", "é"], "École é"),
        ([], ""),
    ],
)
def test_spaces_only_where_words_would_run_into_one(words, text):
    spaces = guess_spaces(words)
    assert "".join(word + " " * space for word, space in zip(words, spaces)) == text
    assert len(spaces) == len(words)
    if words:
        assert make_word_record(words, "file:1", Report()).text == text


def test_record():
    report = Report()
    record = make_word_record(
        ["中\ufffd", "国"], "file:3", report, spaces=[True, False], pos=["NOUN", ""], tags=["NN", "X"]
    )
    assert record == ("中\ufffd 国", ("中\ufffd", "国"), None, "file:3", (True, False), True, ("NOUN", ""), ("NN", "X"))
    assert report.n_words == 2 and report.problems == {LOST_CHARACTERS: 1}


def test_universal():
    assert universal(["NOUN", "NN", "", "CONJ", "_SP"]) == ["NOUN", "", "", "CONJ", ""]


@pytest.fixture
def read_text(tmp_path):
    def read(text, report=None, **options):
        (tmp_path / "file").write_bytes(text)
        return list(read_word_text(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_any_white_space_stands_between_words(read_text):
    report = Report()
    first, second = read_text("\ufeff  迈向  充满\t希望　的 世纪 \r\n\n \n１９９８年 ，　Iron  Man\n".encode(), report)
    assert first.words == ("迈向", "充满", "希望", "的", "世纪") and first.text == "迈向充满希望的世纪"
    assert second.words == ("１９９８年", "，", "Iron", "Man") and second.text == "１９９８年，Iron Man"
    assert first.segmented and first.pos is None and first.entities is None
    assert (first.place[-2:], second.place[-2:]) == (":1", ":4")
    assert report.n_words == 9 and not report.problems


def test_encoding_and_space_symbol(read_text):
    [record] = read_text("台北 New␣York\n".encode("utf-16"), encoding="utf-16", space_symbol="␣")
    assert record.words == ("台北", "New York") and record.text == "台北New York"


@pytest.mark.parametrize("text", [b"", b"\n \n\t\n"])
def test_no_text(read_text, text):
    with pytest.raises(FormatError, match="file: the file has no text"):
        read_text(text)


@pytest.fixture
def read_tags(tmp_path):
    def read(text, report=None, **options):
        (tmp_path / "file").write_text(text)
        return list(read_word_tags(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_universal_parts_of_speech_are_tags_too(read_tags):
    report = Report()
    [record] = read_tags("南 B-PROPN\n京 E-PROPN\n的 S-DEC\n, O\n桥 S-NOUN\n", report)
    assert record.words == ("南京", "的", ",", "桥") and record.text == "南京的,桥" and record.segmented
    assert record.pos == ("PROPN", "", "", "NOUN") and record.tags == ("PROPN", "DEC", "", "NOUN")
    assert record.entities is None and report.n_words == 4


def test_tags_without_labels(read_tags):
    first, second = read_tags("南 B\n京 E\n的 S\n\n桥 S")
    assert (first.words, second.words) == (("南京", "的"), ("桥",))
    assert first.pos is first.tags is None


def test_bmes_and_spaces(read_tags):
    [record] = read_tags("N B-X\ne M-X\nw E-X\n␣ O\nY S-X\n", space_symbol="␣")
    assert record.words == ("New", " ", "Y") and record.text == "New Y"


def test_errors_are_those_of_tag_files(read_tags):
    with pytest.raises(FormatError, match="file:2: 京 B-X: in BIOES, entity that does not end with E"):
        read_tags("南 S-X\n京 B-X\n的 S-X\n")
    report = Report()
    [record] = read_tags("南 S-X\n京 B-X\n的 S-X\n", report, repair=True)
    assert record.words == ("南", "京", "的") and sum(report.problems.values()) == 1
