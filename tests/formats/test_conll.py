import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.formats.conll import JOINED, detect_layout, read_conll
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.tags import SCHEMES, write_tags

GOOD = "南 B-GPE\n京 E-GPE\n的 O\n桥 S-LOC\n"


@pytest.fixture
def read(tmp_path):
    def read(text, report=None, **options):
        path = tmp_path / "file"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return list(read_conll(Source(path), ReadOptions(**options), report or Report()))

    return read


def summary(records):
    return [(r.text, [(r.text[e.start : e.end], e.label) for e in r.entities]) for r in records]


EXPECTED = [("南京的桥", [("南京", "GPE"), ("桥", "LOC")])]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.strip(),
        "\n\n" + GOOD + "\n \n\t\n",
        "\ufeff" + GOOD,
        GOOD.replace(" ", "\t"),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(" ", "   "),
        GOOD.replace(" ", "\tNN\t_\t"),
        GOOD.replace("\n", " \n"),
        GOOD.replace("S-", "W-"),
        GOOD.replace("E-", "L-").replace("S-", "U-"),
        "-DOCSTART- -X- O\n\n" + GOOD.replace(" ", " x "),
        "-DOCSTART-\tO\n" + GOOD.replace(" ", "\t"),
        "-DOCSTART-\n\n" + GOOD,
        "-DOCSTART- -X- O\n\n" + GOOD.replace(" ", "\t"),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_variants_of_the_format(read, text):
    [record] = read(text)
    assert summary([record]) == EXPECTED
    assert record.words == ("南", "京", "的", "桥")


def test_first_columns_that_are_words(read):
    assert summary(read("1 O\n2 O\n")) == [("12", [])]
    assert summary(read("1 CD O\n\n2 CD O\n月 NN O\n")) == [("1", []), ("2月", [])]
    assert summary(read("  SP O\n南 NR B-GPE\n")) == [(" 南", [("南", "GPE")])]


def test_spaces_after_the_tag(read):
    assert summary(read("南\tB-GPE \n京\tI-GPE\n的\tO \n桥\tB-LOC \n")) == EXPECTED


def test_several_sentences_and_their_places(read):
    records = read("-DOCSTART- O\n中 O\n\n\n国 B-X\n家 I-X\n-DOCSTART- O\n好 O")
    assert summary(records) == [("中", []), ("国家", [("国家", "X")]), ("好", [])]
    assert [record.place.rsplit(":")[-1] for record in records] == ["2", "5", "8"]


def test_words_that_look_like_something_else(read):
    records = read("# O\n#tag O\n  O\n\u3000 O\n\u2028 O\n\xa0 O\n名0 O\n")
    assert records[0].words == ("#", "#tag", " ", "\u3000", "\u2028", "\xa0", "名0")
    assert read(" \tO\n中\tB-X\n")[0].words == (" ", "中")
    assert read("南␣京 B-X\n␣ O", space_symbol="␣")[0].text == "南 京 "


def test_digit_suffixes_of_weibo(read):
    text = "科0 B-X\n技1 I-X\n10 O\n"
    [record] = read(text)
    assert record.words == ("科", "技", "1")
    assert summary([record]) == [("科技1", [("科技", "X")])]
    assert read(text, digit_suffix="yes") == [record]
    assert read(text, digit_suffix="no")[0].words == ("科0", "技1", "10")
    assert read(text + "五 O\n")[0].words == ("科0", "技1", "10", "五")
    with pytest.raises(FormatError, match=r"file:4: the word '五' does not end with a digit"):
        read(text + "五 O\n", digit_suffix="yes")


def test_joined_words_in_latin_letters_are_reported(read):
    report = Report()
    assert summary(read("EU B-ORG\nrejects O\n\n", report)) == [("EUrejects", [("EU", "ORG")])]
    assert report.problems == {JOINED: 1}
    report = Report()
    read("i O\nP O\na O\nd O\n买 O\nMac O\n2 O\n和 O\niPhone O\n␣ O\nPro O\n", report, space_symbol="␣")
    assert not report.problems


def test_broken_emoji_are_reported(read):
    report = Report()
    [record] = read("好 O\n\ufffd\ufffd O\n\ufffd O\n", report)
    assert record.words == ("好", "\ufffd\ufffd", "\ufffd")
    [(kind, count)] = report.problems.items()
    assert kind.startswith("text with U+FFFD") and count == 1


@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["A", "B.C"])), min_size=1, max_size=5))
def test_round_trip(tmp_path_factory, scheme, pieces):
    spans, n = [], 0
    for gap, length, label in pieces:
        spans.append((n + gap, n + gap + length, label))
        n += gap + length
    words = [chr(0x4E00 + i) for i in range(n)]
    path = tmp_path_factory.getbasetemp() / f"round_trip_{scheme}"
    path.write_text("".join(f"{w}\t{t}\n" for w, t in zip(words, write_tags(spans, n, scheme))), encoding="utf-8")
    [record] = read_conll(Source(path), ReadOptions(scheme=scheme), Report())
    assert record.entities == spans and record.words == tuple(words)


@pytest.mark.parametrize(
    "text, scheme",
    [
        (GOOD, "bioes"),
        ("中 B-X\n国 I-X", "bio"),
        ("中 B-X\n国 M-X\n人 E-X", "bmes"),
        ("中 O", "bio"),
        ("中 W-X", "bmewo"),
    ],
)
def test_detected_scheme(tmp_path, text, scheme):
    path = tmp_path / "file"
    path.write_text(text)
    assert detect_layout(Source(path), ReadOptions()).scheme == scheme


def test_the_scheme_is_that_of_the_whole_file(read):
    """Nothing in the first thousand sentences says that ends are marked."""
    many = "中 B-X\n国 I-X\n\n" * 1000
    assert len(read(many)) == 1000
    with pytest.raises(FormatError, match="file:2: 国 I-X: in BIOES, entity that does not end with E"):
        read(many + GOOD)


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("", {}, "the file has no sentence"),
        ("\n \n", {}, "the file has no sentence"),
        ("中 O\n国\n", {}, "file:2: expected a word and a tag, separated by a space. The line is '国'"),
        ("中\tO\n国 O\n", {}, "file:2: expected a word and a tag, separated by a tab"),
        ("中 O\n国 X-PER\n", {}, "file:2: 'X-PER' is not a tag"),
        ("中 O\n国\tO\n", {}, "file:2"),
        ("中\tNN\tO\n\tSP\tO\n", {}, r"file:2: the first column is empty; expected a word. .*\(--repair\)"),
        ("中\tO\n\tO\n", {}, "file:2: the first column is empty"),
        ("1\t中\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n", {}, "file:1: '_' is not a tag.*CoNLL-U"),
        ("中 I-X\n", {}, r"file:1: 中 I-X: in BIO, entity that does not begin with B\. Repair it \(--repair\)"),
        ("中 O\n国 B-X\n人 O\n家 S-X", {}, "file:2: 国 B-X: in BIOES, entity that does not end with E"),
        ("中 B-X\n国 I-Y\n", {}, "file:2: 国 I-Y: in BIO, label that changes"),
        ("中 B-X\n国 M-X\n人 I-X\n", {}, r"fit no scheme .* B \(line 1\), M \(line 2\), I \(line 3\)"),
        ("中 B-X\n国 E-X\n", {"scheme": "bio"}, "file:2: the tag 'E-X' does not belong to BIO"),
        ("中 O", {"scheme": "iobes"}, "Unknown tag scheme 'iobes'. Use auto or one of: bio, "),
        ("中 B\n国 E\n", {}, "file:1: the tags have no labels"),
        ("# id = 1\n中 O\n", {}, "file:1: '1' is not a tag"),
        ("中,B-X\n国,I-X\n", {}, "file:1: expected a word and a tag, separated by a space, not by a comma"),
        ("中 B-X\r国 I-X\r人 O\r", {}, "file:1: .*found a carriage return within. Convert the file"),
        ("中\tO\r\n国\tO\r人\tO\r\n", {}, "file:2: .*found a carriage return within"),
        ("1\t中\tB-X\n2\t国\tI-X\n\n1\t人\tO\n", {}, "the first column, .* has only numbers"),
        ("7 中 B-X\n7 国 I-X\n8 人 O\n", {}, "the first column, .* has only numbers"),
        (" 中 B-X\n 国 I-X\n\n 人 O\n", {}, "the first column, .* has only white space"),
    ],
)
def test_errors_name_file_and_line(read, text, options, message):
    with pytest.raises(FormatError, match=message):
        read(text, **options)


def test_repair_is_counted(read):
    report = Report()
    records = read("一 I-X\n二 E-X\n\n三 E-X\n四 B-X\n\n五 B-X\n六 M-Y\n七 E-Y\n八 W-Z\n", report, repair=True)
    assert summary(records) == [
        ("一二", [("一二", "X")]),
        ("三四", [("三", "X"), ("四", "X")]),
        ("五六七八", [("五", "X"), ("六七", "Y"), ("八", "Z")]),
    ]
    assert {kind.split(":")[0]: count for kind, count in report.problems.items()} == {
        "entity that does not begin with B": 2,
        "entity that does not end with E": 1,
        "label that changes inside an entity": 1,
    }
    assert "file:1: 一 I-X; " in report.describe()[0]


def test_an_empty_word_is_read_as_a_space_on_request(read):
    report = Report()
    [record] = read("南\tNN\tB-GPE\n京\tNN\tI-GPE\n\tSP\tO\n市\tNN\tO\n", report, repair=True)
    assert record.words == ("南", "京", " ", "市") and report.problems == {"empty word: read as a space": 1}


def test_nothing_is_repaired_in_a_good_file(read):
    report = Report()
    read(GOOD, report, repair=True)
    assert not report.problems
