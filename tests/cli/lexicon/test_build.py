import pytest

from spacy_lexner.lexicon import Lexicon


def test_files_of_several_formats(run, tmp_path):
    (tmp_path / "dict.txt").write_text("南京 300 ns\n大桥 20 n\n")
    (tmp_path / "words.txt").write_text("长江\n大桥\n")
    (tmp_path / "vectors.vec").write_text("2 3\n大桥 1 2 3\n桥 4 5 6\n")
    files = [tmp_path / name for name in ("dict.txt", "words.txt", "vectors.vec")]
    code, output = run("build", tmp_path / "out", *files, "--dtype", "float16")
    assert code == 0
    assert "dict.txt: read as jieba" in output and "words.txt: read as words" in output
    assert "out: 4 words, vectors of 3 dimensions" in output and "2 entries repeat earlier words" in output
    entry = Lexicon.open(tmp_path / "out").get("大桥")
    assert (entry.weight, entry.label, entry.vector.tolist(), entry.vector.dtype) == (20, "n", [1, 2, 3], "float16")


def test_a_table(run, tmp_path):
    (tmp_path / "names.csv").write_text("name,type,qid\n南京,GPE,Q16666\n")
    columns = ("--word", "name", "--label", "1", "--entity-id", "qid")
    assert run("build", tmp_path / "out", tmp_path / "names.csv", *columns)[0] == 0
    entry = Lexicon.open(tmp_path / "out").get("南京")
    assert (entry.label, entry.entity_id) == ("GPE", "Q16666")
    code, output = run("build", tmp_path / "out", tmp_path / "names.csv", "--force")
    assert code == 0 and "only the first column, the words, is read" in output
    assert "name" in Lexicon.open(tmp_path / "out")


def test_columns_concern_tables_only(run, tmp_path):
    (tmp_path / "typed.tsv").write_text("南京\tGPE\n大桥\tLOC\n")
    (tmp_path / "words.vec").write_text("2 3\n大桥 1 2 3\n桥 4 5 6\n")
    (tmp_path / "plain.txt").write_text("air max\n\n大桥\n")
    files = [tmp_path / "typed.tsv", tmp_path / "words.vec", f"shoe={tmp_path / 'plain.txt'}"]
    code, output = run("build", tmp_path / "out", *files, "--word", "0", "--label", "1")
    assert code == 0 and "typed.tsv: read as table" in output and "words.vec: read as vectors" in output
    lexicon = Lexicon.open(tmp_path / "out")
    known = {entry.word: (entry.label, entry.vector is not None) for entry in lexicon.entries()}
    assert known == {"南京": ("GPE", False), "大桥": ("LOC", True), "桥": ("", True), "air max": ("shoe", False)}


def test_label_of_plain_lists(run, tmp_path):
    (tmp_path / "plain.txt").write_text("air max\n大桥\n")
    (tmp_path / "words.vec").write_text("2 3\n大桥 1 2 3\n桥 4 5 6\n")
    code, output = run("build", tmp_path / "out", tmp_path / "plain.txt", tmp_path / "words.vec", "--label", "shoe")
    assert code == 0 and "plain.txt: read as words, labelled shoe" in output
    assert [entry.label for entry in Lexicon.open(tmp_path / "out").entries()] == ["shoe", "shoe", ""]
    for options in (["--label", "1"], ["--word", "0", "--label", "type"], ["--weight", "freq"]):
        code, output = run("build", tmp_path / "new", tmp_path / "plain.txt", *options)
        assert code == 1 and "columns of a table, but no file is one" in output and "plain.txt words" in output


def test_a_file_of_which_too_much_would_be_left_out(run, tmp_path):
    (tmp_path / "good.txt").write_text("".join(f"词{i}\n" for i in range(100)))
    (tmp_path / "bad.txt").write_text("南京\n大桥\n大\t桥\n" + "长" * 65 + "\n南京\n")
    files = [tmp_path / "good.txt", tmp_path / "bad.txt"]
    code, output = run("build", tmp_path / "out", *files)
    assert code == 1 and not (tmp_path / "out").exists()
    assert "bad.txt: 2 of 5 entries would be left out (40%): 1 x white space" in output and "bad.txt:3" in output
    assert "1 x word longer" in output and "--max-dropped 1" in output
    assert "bad.txt:4). Check" in output
    assert run("build", tmp_path / "out", *files, "--max-dropped", "0.4")[0] == 0
    assert len(Lexicon.open(tmp_path / "out")) == 102
    (tmp_path / "bad.txt").write_text("词1\n词2\n")
    assert run("build", tmp_path / "new", *files)[0] == 0, "repeated words are not lost"


def test_a_lexicon_and_more(run, folder, tmp_path):
    (tmp_path / "more.txt").write_text("长江\n")
    assert run("build", tmp_path / "out", folder, tmp_path / "more.txt", "--normalise-width")[0] == 0
    lexicon = Lexicon.open(tmp_path / "out")
    assert len(lexicon) == 4 and lexicon.get("南京").entity_id == "Q16666" and lexicon.normalization.width


def test_a_script(run, tmp_path):
    (tmp_path / "words.txt").write_text("臺灣\n台湾\n", "utf8")
    code, output = run("build", tmp_path / "out", tmp_path / "words.txt", "--script", "simplified")
    assert code == 0 and "out: 1 words" in output
    assert run("lookup", tmp_path / "out", "--text", "在臺湾")[0] == 0
    assert "script (simplified)" in run("info", tmp_path / "out")[1]
    code, output = run("build", tmp_path / "new", tmp_path / "words.txt", "--script", "roman")
    assert code == 1 and "'roman'; expected one of simplified" in output and not (tmp_path / "new").exists()


def test_empty(run, tmp_path):
    assert run("build", tmp_path / "out", "--empty")[0] == 0
    assert len(Lexicon.open(tmp_path / "out")) == 0
    (tmp_path / "words.txt").write_text("南京\n")
    for arguments in ([tmp_path / "new"], [tmp_path / "new", tmp_path / "words.txt", "--empty"]):
        code, output = run("build", *arguments)
        assert code == 1 and "or --empty" in output


def test_what_is_wrong_is_told(run, tmp_path):
    (tmp_path / "words.txt").write_text("南  京\n大桥\n")
    code, output = run("build", tmp_path / "out", tmp_path / "words.txt", "--format", "words", "--max-dropped", "1")
    assert code == 0 and "1 entries left out: white space in the word" in output and "words.txt:1" in output
    for option, message in [("--strict", "words.txt:1: white space"), ("--dtype=int8", "'int8'"), ("-f=xml", "xml")]:
        code, output = run("build", tmp_path / "new", tmp_path / "words.txt", "--format", "words", *option.split("="))
        assert code == 1 and message in output and not (tmp_path / "new").exists()
    code, output = run("build", tmp_path / "out", tmp_path / "words.txt")
    assert code == 1 and "Replace it (--force)" in output


@pytest.mark.parametrize("encoding", ["gb18030", "utf8"])
def test_encodings(run, tmp_path, encoding):
    (tmp_path / "words.txt").write_bytes("南京\n大桥\n".encode("gb18030"))
    code, output = run("build", tmp_path / "out", tmp_path / "words.txt", "--encoding", encoding)
    assert (code, "looks like gb18030" in output) == ((0, False) if encoding == "gb18030" else (1, True))


@pytest.mark.parametrize(
    "option,value,code,message",
    [
        ("--limit", "-1", 2, "Invalid value for '--limit'"),  # it read everything
        ("--encoding", "utf-9", 1, "unknown encoding 'utf-9'"),
        ("--errors", "skip", 1, "errors is 'skip'"),
    ],
)
def test_options_that_make_no_sense(run, tmp_path, option, value, code, message):
    (tmp_path / "words.txt").write_text("南京\n长江\n")
    found, output = run("build", tmp_path / "out", tmp_path / "words.txt", option, value)
    assert found == code and message in output and not (tmp_path / "out").exists()


def test_the_lines_of_the_file_that_is_refused_are_named(run, tmp_path):
    bad = [f"坏  词{i}\n" for i in range(12)]  # as many as a report names for each reason, and more
    (tmp_path / "good.txt").write_text("".join([*bad, *(f"词{i}\n" for i in range(200))]))
    (tmp_path / "bad.txt").write_text("".join(["南京\n", *bad[:5]]))
    code, output = run("build", tmp_path / "out", tmp_path / "good.txt", tmp_path / "bad.txt")
    assert code == 1 and "bad.txt: 5 of 6 entries" in output
    assert all(f"bad.txt:{line}, " in output for line in (2, 3, 4)) and ", ...). Check" in output
