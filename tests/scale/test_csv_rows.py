import pytest

from spacy_lexner.formats.record import FormatError
from spacy_lexner.scale.csv_rows import CsvRows
from spacy_lexner.scale.records import Progress


def read(path, text, format="csv"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
    rows = CsvRows(str(path), format, Progress([]))
    return rows.columns, [(int(row.place.rpartition(":")[2]), row.cells) for row in rows]


def test_a_row_has_the_line_on_which_it_begins(tmp_path):
    text = '\nid,text\r\n\n1,"武汉\n市"\n\n2,你好\n3,"a ""b"""\n'
    rows = [(4, ["1", "武汉\n市"]), (7, ["2", "你好"]), (8, ["3", 'a "b"'])]
    assert read(tmp_path / "a.csv", text) == (["id", "text"], rows)
    assert read(tmp_path / "a.tsv", text.replace(",", "\t"), "tsv") == (["id", "text"], rows)
    assert read(tmp_path / "b.csv", "") == ([], [])


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(FormatError, match=r"a\.csv:1: there are several columns 'text'.*Rename one of them"):
        read(tmp_path / "a.csv", "text,id,text\n一,1,二\n")
    assert read(tmp_path / "b.csv", "text,,\n一,,\n") == (["text", "", ""], [(2, ["一", "", ""])])


@pytest.mark.parametrize("format, comma", [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize(
    "lines, begins, ends",
    [
        (['1,"武汉市', "2,你好", "3,武汉市很长"], 3, 5),  # never closed
        (['1,"武汉市', '2,"你好"', "3,武汉市很长"], 3, 4),  # closed by the next row's
        (["1,你好", '2,"武汉市"很长'], 4, 4),
        (['1,"武汉\n市"', '2,"你好'], 5, 5),
    ],
)
def test_a_quote_that_is_not_closed_is_named(tmp_path, format, comma, lines, begins, ends):
    text = "\n".join(["id,text", "0,一", *lines]).replace(",", comma)
    path = tmp_path / "a.dat"
    with pytest.raises(FormatError) as error:
        read(path, text, format)
    assert f"{path}:{begins}: invalid CSV in the row that begins here and was read up to line {ends} (" in str(
        error.value
    )
    assert "or give the texts as .txt or .jsonl" in str(error.value)


def test_quotes_within_a_cell(tmp_path):
    assert read(tmp_path / "a.csv", '5" text\n他说"好"\n')[1] == [(2, ['他说"好"'])]


def test_bytes_that_are_not_utf8(tmp_path):
    with pytest.raises(FormatError, match=r"a\.csv:1: byte 5 of the file is not UTF-8 .*Save the file as UTF-8"):
        read(tmp_path / "a.csv", b"text,\xff\n1,2\n")
