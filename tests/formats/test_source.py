import bz2
import gzip
import lzma
import zipfile

import pytest

from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source, list_sources, read_lines, read_text

TEXT = "南京市 O\r\n长\u2028江\x85 O\n\n大桥"
LINES = [(1, "南京市 O"), (2, "长\u2028江\x85 O"), (3, ""), (4, "大桥")]


def read(source, **options):
    return list(read_lines(source, ReadOptions(**options), Report()))


@pytest.mark.parametrize(
    "opener, suffix", [(open, ".txt"), (gzip.open, ".gz"), (bz2.open, ".bz2"), (lzma.open, ".xz"), (gzip.open, ".GZ")]
)
def test_plain_and_compressed_files(tmp_path, opener, suffix):
    path = tmp_path / f"file{suffix}"
    with opener(path, "wb") as file:
        file.write(TEXT.encode())
    [source] = list_sources(path)
    assert read(source) == LINES


def test_zip_archives(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b/test", "京 O")
        archive.writestr("a.txt", TEXT)
        archive.writestr("__MACOSX/._a.txt", "rubbish")
        archive.writestr("empty/", "")
    sources = list_sources(path)
    assert [source.name for source in sources] == [f"{path}/a.txt", f"{path}/b/test"]
    assert read(sources[0]) == LINES
    assert list_sources(path / "b" / "test") == [sources[1]]
    assert list_sources(tmp_path) == sources
    with pytest.raises(FileNotFoundError, match=r"No such member .*: a\.txt, b/test"):
        list_sources(path / "c")


def test_folders_and_missing_files(tmp_path):
    for name in ("b.txt", "sub/a.txt", ".hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [source.path.relative_to(tmp_path).as_posix() for source in list_sources(tmp_path)] == ["b.txt", "sub/a.txt"]
    with pytest.raises(FileNotFoundError, match=r"No such file or folder: .*nothing"):
        list_sources(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no files in .*empty"):
        list_sources(tmp_path / "empty")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-32", "utf-16-be"])
def test_encodings_and_byte_order_marks(tmp_path, encoding):
    path = tmp_path / "file"
    path.write_bytes(TEXT.encode(encoding))
    assert read(Source(path), encoding="utf-8" if encoding == "utf-8-sig" else encoding) == LINES


@pytest.mark.parametrize(
    "raw, encoding, message",
    [
        ("中 O\n中国 O\n".encode() + "银行 O\n".encode("gb18030"), "utf-8", "file:3: byte 1 .* gb18030"),
        ("中国 O".encode(), "gb2312", r"file:1: .* is not gb2312 .*looks like utf-8.*--encoding utf-8"),
        ("中 O".encode("utf-16"), "utf-8", "looks like utf-16"),
        (b"\xff\xff\xff", "utf-8", "--errors replace"),
        ("中".encode("utf-16") + b"\x00", "utf-16", "file:1 or later: not utf-16"),
    ],
)
def test_wrong_encoding(tmp_path, raw, encoding, message):
    path = tmp_path / "file"
    path.write_bytes(raw)
    with pytest.raises(FormatError, match=message):
        read(Source(path), encoding=encoding)


def test_replaced_bytes_of_wide_characters_are_reported(tmp_path):
    path, report = tmp_path / "file", Report()
    path.write_bytes("中\n".encode("utf-16-le") + b"\x00\xd8" + "国\n人\n".encode("utf-16-le"))
    options = ReadOptions(encoding="utf-16-le", errors="replace")
    assert [line for _, line in read_lines(Source(path), options, report)] == ["中", "\ufffd国", "人"]
    assert report.describe() == [f"line with bytes that are not utf-16-le, replaced by U+FFFD: 1 ({path}:2)"]


def test_replaced_bytes_are_reported(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("中 O\n".encode() + b"\xd6\xd0 O\n" + "\ufffd O\n".encode())
    report = Report()
    lines = list(read_lines(Source(path), ReadOptions(errors="replace"), report))
    assert lines == [(1, "中 O"), (2, "\ufffd\ufffd O"), (3, "\ufffd O")]
    assert report.describe() == [f"line with bytes that are not utf-8, replaced by U+FFFD: 1 ({path}:2)"]


@pytest.mark.parametrize("name", ["file.gz", "file.xz", "file.zip"])
def test_damaged_archives(tmp_path, name):
    path = tmp_path / name
    data = bytes(range(256)) * 200
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("member", data)
        raw = bytearray(path.read_bytes())
        raw[3000] ^= 1  # fails the check sum
        path.write_bytes(raw)
    else:
        with {".gz": gzip.open, ".xz": lzma.open}[path.suffix](path, "wb") as file:
            file.write(data)
        path.write_bytes(path.read_bytes()[:-20])
    [source] = list_sources(path)
    with pytest.raises(FormatError, match="is damaged"):
        read(source, encoding="latin-1")


def test_an_archive_with_a_capital_suffix(tmp_path):
    with zipfile.ZipFile(tmp_path / "FILE.ZIP", "w") as archive:
        archive.writestr("a.conll", "南 B-GPE")
    assert [source.member for source in list_sources(tmp_path / "FILE.ZIP")] == ["a.conll"]
    assert len(list_sources(tmp_path / "FILE.ZIP" / "a.conll")) == 1


def test_not_a_zip(tmp_path):
    (tmp_path / "file.zip").write_text("no")
    with pytest.raises(FormatError, match="is not a zip archive"):
        list_sources(tmp_path / "file.zip")


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXNER_LIMITS", "line=100")
    (tmp_path / "file").write_text("中 O\n" + "x" * 101)
    with pytest.raises(
        FormatError, match=r"file:2: a line of more bytes .*'line' allows \(100\).* LEXNER_LIMITS=line="
    ):
        read(Source(tmp_path / "file"))


def test_whole_texts(tmp_path, monkeypatch):
    path, report = tmp_path / "file", Report()
    path.write_bytes("\ufeff南\r\n京\n".encode())
    assert read_text(Source(path), ReadOptions(), report) == "南\r\n京\n"
    path.write_bytes("南京".encode("gb18030"))
    with pytest.raises(FormatError, match=r"byte 1 is not utf-8 .* It looks like gb18030.* or save it as UTF-8"):
        read_text(Source(path), ReadOptions(), report)
    assert "\ufffd" in read_text(Source(path), ReadOptions(errors="replace"), report) and report.problems
    monkeypatch.setenv("LEXNER_LIMITS", "file=3")
    with pytest.raises(FormatError, match=r"more bytes than the limit 'file' allows \(3\)"):
        read_text(Source(path), ReadOptions(), report)
