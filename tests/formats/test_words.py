import pytest

from spacy_lexner.formats.record import LOST_CHARACTERS
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.words import guess_spaces, make_word_record, universal


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
