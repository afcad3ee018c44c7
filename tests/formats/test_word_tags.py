import pytest

from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.word_tags import read_word_tags


@pytest.fixture
def read(tmp_path):
    def read(text, report=None, **options):
        (tmp_path / "file").write_text(text)
        return list(read_word_tags(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_universal_parts_of_speech_are_tags_too(read):
    report = Report()
    [record] = read("南 B-PROPN\n京 E-PROPN\n的 S-DEC\n, O\n桥 S-NOUN\n", report)
    assert record.words == ("南京", "的", ",", "桥") and record.text == "南京的,桥" and record.segmented
    assert record.pos == ("PROPN", "", "", "NOUN") and record.tags == ("PROPN", "DEC", "", "NOUN")
    assert record.entities is None and report.n_words == 4


def test_tags_without_labels(read):
    first, second = read("南 B\n京 E\n的 S\n\n桥 S")
    assert (first.words, second.words) == (("南京", "的"), ("桥",))
    assert first.pos is first.tags is None


def test_bmes_and_spaces(read):
    [record] = read("N B-X\ne M-X\nw E-X\n␣ O\nY S-X\n", space_symbol="␣")
    assert record.words == ("New", " ", "Y") and record.text == "New Y"


def test_errors_are_those_of_tag_files(read):
    with pytest.raises(FormatError, match="file:2: 京 B-X: in BIOES, entity that does not end with E"):
        read("南 S-X\n京 B-X\n的 S-X\n")
    report = Report()
    [record] = read("南 S-X\n京 B-X\n的 S-X\n", report, repair=True)
    assert record.words == ("南", "京", "的") and sum(report.problems.values()) == 1
