import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.formats.conllu import (
    NOT_UNIVERSAL,
    OTHER_TEXT,
    UNKNOWN_SPACES,
    align_spaces,
    is_conllu,
    read_conllu,
)
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source


def row(number, word, pos="NOUN", tag="NN", misc="_"):
    return f"{number}\t{word}\t_\t{pos}\t{tag}\t_\t0\troot\t_\t{misc}\n"


@pytest.fixture
def read(tmp_path):
    def read(text, report=None, **options):
        (tmp_path / "file").write_text(text)
        return list(read_conllu(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_words_and_parts_of_speech(read):
    report = Report()
    text = (
        "# newdoc\n# sent_id = 1\n"
        + row(1, "南京", "PROPN", "NNP")
        + row(2, "的", "PART", "_")
        + "\n\n"
        + row(1, "_", "_")
    )
    first, second = read(text, report)
    assert first.words == ("南京", "的") and first.text == "南京的" and first.segmented and first.entities is None
    assert first.pos == ("PROPN", "PART") and first.tags == ("NNP", "")
    assert second.words == ("_",) and second.pos == ("",)
    assert [record.place.rsplit(":")[-1] for record in (first, second)] == ["3", "7"]
    assert report.n_words == 3 and report.problems == {UNKNOWN_SPACES: 1}


def test_contractions_and_empty_nodes(read):
    rows = row(1, "我") + row("2-3", "甭", "_", "_") + row(2, "不") + row(3, "用") + row("3.1", "x") + row(4, "去")
    [record] = read(rows)
    assert record.words == ("我", "甭", "去") and record.pos == ("NOUN", "", "NOUN")


def test_spaces_of_the_text_come_first(read):
    report = Report()
    rows = row(1, "Iron", misc="SpaceAfter=No") + row(2, "Man") + row(3, "的") + row(4, "95") + row(5, "km")
    assert read(rows, report)[0].text == "IronMan 的 95 km"
    assert read("# text = Iron  Man的95km\n" + rows, report)[0].text == "Iron Man的95km"
    assert not report.problems
    misc = ["CorrectSpaceAfter=No", "Gloss=x|SpaceAfter=No", "_"]
    assert read("".join(row(i, word, misc=misc[i - 1]) for i, word in enumerate("abc", start=1)))[0].text == "a bc"
    guessed = read(rows.replace("SpaceAfter=No", "_"), report)
    assert guessed[0].text == "Iron Man的95 km" and report.problems == {UNKNOWN_SPACES: 1}


def test_text_that_the_words_do_not_spell(read):
    text = "# text = 南京 北京\n" + row(1, "南京") + row(2, "东京")
    with pytest.raises(FormatError, match="file:2: the words are '南京 东京', but the sentence's text is '南京 北京'"):
        read(text)
    report = Report()
    assert read(text, report, repair=True)[0].text == "南京东京"
    assert report.problems == {OTHER_TEXT: 1, UNKNOWN_SPACES: 1}


def test_parts_of_speech_that_are_not_universal(read):
    with pytest.raises(FormatError, match="file:1: the part of speech 'NN' of '南京' is not universal"):
        read(row(1, "南京", "NN"))
    report = Report()
    [record] = read(row(1, "南京", "NN"), report, repair=True)
    assert record.pos == ("",) and record.tags == ("NN",) and report.problems[NOT_UNIVERSAL] == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file has no sentence"),
        ("# text = 中\n", "the file has no sentence"),
        (row(1, "中") + "2\t国\n", "file:2: expected the 10 columns of CoNLL-U"),
        (row("x", "中"), "file:1: expected the 10 columns"),
        (row(1, " "), "file:1: expected the 10 columns"),
        ("中 O\n", "file:1: expected the 10 columns.*The line is '中 O'"),
    ],
)
def test_errors(read, text, message):
    with pytest.raises(FormatError, match=message):
        read(text)


def test_is_conllu():
    assert is_conllu(["# text = 中\n", "\n", row(1, "中")]) and is_conllu([row("1-2", "中")])
    assert not is_conllu(["中 O", row(1, "中")]) and not is_conllu(["# x"]) and not is_conllu([])


@given(st.lists(st.tuples(st.text("ab中", min_size=1, max_size=3), st.sampled_from(["", " ", "\u3000 "])), min_size=1))
def test_spaces_are_found_again(pairs):
    words = [word for word, _ in pairs]
    spaces = align_spaces(words, "".join(word + space for word, space in pairs))
    assert spaces == [bool(space) for _, space in pairs[:-1]] + [False]
    assert align_spaces(words, "x".join(words) + "x") is None
