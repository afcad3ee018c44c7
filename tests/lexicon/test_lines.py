import bz2
import gzip
import lzma
import re

import pytest

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.limits import LIMITS
from spacy_lexner.lexicon.lines import read_lines, stream_entries

LINES = ["南京 1", "", "a\u2028b\x0cc", "最后"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_lines_and_numbers(tmp_path, end, final, bom):
    path = tmp_path / "a.txt"
    path.write_bytes((bom + end.join(LINES) + (end if final else "")).encode("utf8"))
    assert list(read_lines(path)) == list(enumerate(LINES, 1))


@pytest.mark.parametrize("suffix,compress", [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed(tmp_path, suffix, compress):
    path = tmp_path / f"a.txt{suffix}"
    data = compress("\n".join(LINES * 500).encode("utf8"))
    path.write_bytes(data)
    assert [line for _, line in read_lines(path)] == LINES * 500
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(LexiconError, match=r"a.txt.*:\d+: cannot be read"):
        list(read_lines(path))
    path.write_bytes(b"no archive")
    with pytest.raises(LexiconError, match=":1: cannot be read"):
        list(read_lines(path))


def test_missing_empty_and_folder(tmp_path):
    (tmp_path / "empty.txt").touch()
    for name, message in [
        ("empty.txt", "the file is empty"),
        ("none.txt", "no such file"),
        (".", "a folder, not a file"),
    ]:
        with pytest.raises(LexiconError, match=message):
            list(read_lines(tmp_path / name))


@pytest.mark.parametrize("encoding,guess", [("gbk", "gb18030"), ("gb18030", "gb18030")])
def test_other_encoding_is_named(tmp_path, encoding, guess):
    path = tmp_path / "gbk.txt"
    path.write_bytes("ascii\n南京市长江大桥\n".encode(encoding))
    with pytest.raises(LexiconError, match=rf"gbk.txt:2: not utf8 \(byte 0xc4 at 0\); it looks like {guess}"):
        list(read_lines(path))
    assert [line for _, line in read_lines(path, encoding=guess)] == ["ascii", "南京市长江大桥"]
    assert next(read_lines(path, errors="ignore")) == (1, "ascii")


def test_utf16_is_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("南京".encode("utf-16"))
    with pytest.raises(
        LexiconError, match=r"a\.txt:1: not utf8 .*; it looks like UTF-16\. Convert the file to UTF-8\.$"
    ):
        list(read_lines(path))


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'. Try utf8, gb18030 or big5."),
        ({"encoding": "base64"}, "unknown encoding 'base64'"),
        ({"encoding": "utf-16-be"}, "files in the encoding 'utf-16-be' are not read line by line. Convert the file"),
        ({"encoding": "idna"}, "files in the encoding 'idna' are not read"),
        ({"errors": "skip"}, "errors is 'skip'; expected strict, replace or ignore"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, settings, message):
    """The second byte of 上 in UTF-16 is a line feed, so 上海 was read as two words."""
    path = tmp_path / "a.txt"
    path.write_bytes("上海\n".encode("utf-16-be"))
    with pytest.raises(LexiconError, match=re.escape(f"{path}: {message}")):
        list(read_lines(path, **settings))


def test_joined_files_have_several_byte_order_marks(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff南京\n\ufeff长江\ufeff\n".encode())
    assert list(read_lines(path)) == [(1, "南京"), (2, "长江\ufeff")]


def test_suffixes_in_upper_case(tmp_path):
    (tmp_path / "A.TXT.GZ").write_bytes(gzip.compress("南京\n".encode()))
    assert list(read_lines(tmp_path / "A.TXT.GZ")) == [(1, "南京")]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_line_of_a_megabyte(tmp_path, compressed):
    path = tmp_path / ("a.txt.gz" if compressed else "a.txt")
    data = b"good\n" + b"x" * (1 << 20) + b"\n"
    path.write_bytes(gzip.compress(data) if compressed else data)
    with pytest.raises(LexiconError, match=r"a.txt.*:2: .* This line has more bytes than the limit 'entry' allows"):
        list(read_lines(path))


def test_the_longest_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * (LIMITS["entry"] - 1) + b"\n" + b"y\n")
    assert [len(line) for _, line in read_lines(path)] == [LIMITS["entry"] - 1, 1]


def test_a_stream_needs_entries(tmp_path):
    assert list(stream_entries(tmp_path, enumerate("ab", 1))) == ["a", "b"]
    with pytest.raises(LexiconError, match="holds no words"):
        list(stream_entries(tmp_path / "a.txt", []))
