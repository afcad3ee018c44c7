import json
import re
import subprocess
import sys
import zipfile

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Corpus
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.data.convert import convert
from spacy_lexner.formats.record import FormatError, ReadOptions

CONLL = "南 B-GPE\n京 E-GPE\n的 O\n桥 S-LOC\n\n好 O\n"
CLUE = json.dumps({"text": "在南京 的桥", "label": {"GPE": {"南京": [[1, 2]]}, "X": {"京 的": [[2, 4]]}}})


def run(*arguments):
    result = CliRunner().invoke(lexner, ["convert", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback"
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


def load(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("zh").vocab))


def ents(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_a_file(tmp_path):
    (tmp_path / "train.char.bmes").write_text(CONLL)
    code, output = run(tmp_path / "train.char.bmes", tmp_path / "out" / "corpus.spacy")
    assert code == 0
    assert "corpus.spacy: 2 texts, 5 characters, 2 entities GPE 1, LOC 1" in output
    docs = load(tmp_path / "out" / "corpus.spacy")
    assert [doc.text for doc in docs] == ["南京的桥", "好"]
    assert [ents(doc) for doc in docs] == [[("南京", "GPE"), ("桥", "LOC")], []]
    assert all(doc.has_annotation("ENT_IOB") for doc in docs)
    examples = list(Corpus(tmp_path / "out" / "corpus.spacy")(spacy.blank("zh")))
    assert examples[0].get_aligned_ner() == ["B-GPE", "L-GPE", "O", "U-LOC"]


def test_a_folder_with_several_formats(tmp_path):
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    (source / "train.char.bmes").write_text(CONLL)
    (source / "sub" / "dev.json").write_text(CLUE)
    with zipfile.ZipFile(source / "all.zip", "w") as archive:
        archive.writestr("test_bio", "中 B-X\n")
    code, output = run(source, tmp_path / "out")
    assert code == 0
    written = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*"))
    assert written == ["sub/dev.spacy", "test_bio.spacy", "train.spacy"]
    assert "entity that overlaps another one: left out: 1 (line 1: X '京 的')" in output
    assert ents(load(tmp_path / "out" / "sub" / "dev.spacy")[0]) == [("南京", "GPE")]


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "C:/evil.txt"])
def test_a_member_that_leaves_its_archive(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(name, "中 B-X\n")
    code, output = run(tmp_path / "all.zip", tmp_path / "out")
    assert code == 1 and "evil.txt' would be outside the archive" in output and not (tmp_path / "out").exists()


def test_all_entities_as_spans(tmp_path):
    (tmp_path / "dev.json").write_text(CLUE)
    assert run(tmp_path / "dev.json", tmp_path, "--spans-key", "all", "--format", "clue")[0] == 0
    [doc] = load(tmp_path / "dev.spacy")
    assert [(span.text, span.label_) for span in doc.spans["all"]] == [("南京", "GPE"), ("京 的", "X")]


def test_words_and_pipelines(tmp_path):
    (tmp_path / "train.bio").write_text("南京 B-GPE\nab O\n")
    for tokenizer, words in [("words", ["南京", "ab"]), ("char", ["南", "京", "a", "b"]), ("blank:en", ["南京ab"])]:
        code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy", "--tokenizer", tokenizer)
        assert code == 0
        [doc] = load(tmp_path / "train.spacy")
        assert [token.text for token in doc] == words
        assert ("not aligned with tokens: left out: 1 (line 1: GPE '南京')" in output) == (tokenizer == "blank:en")
    code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy", "--tokenizer", "no_such_pipeline")
    assert code == 1 and "no_such_pipeline" in output


@pytest.mark.parametrize("symbol", ["␣", "▁"])
def test_symbols_of_spaces(tmp_path, symbol):
    (tmp_path / "train.bio").write_text(f"南 B-GPE\n京 I-GPE\n{symbol} O\n好 O\n{symbol} O\n好 O\n")
    code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy")
    assert code == 0 and f"use --space-symbol {symbol}: 2 (line 3; line 5)" in output
    code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy", "--space-symbol", symbol)
    assert code == 0 and "read as text" not in output and load(tmp_path / "train.spacy")[0].text == "南京 好 好"


def test_parts_of_speech_read_as_entities(tmp_path):
    (tmp_path / "train.bmes").write_text("南 B-NR\n京 E-NR\n很 S-AD\n好 S-VA\n")
    code, output = run(tmp_path / "train.bmes", tmp_path / "train.spacy")
    assert code == 0 and "100% of the characters are in entities" in output and "--format word-tags" in output
    assert "look like" not in run(tmp_path / "train.bmes", tmp_path / "train.spacy", "--format", "word-tags")[1]


WORDS = [("南京", "PROPN"), ("Iron", "X"), ("Man", "X"), ("的", "PART")]


def test_annotated_words(tmp_path):
    """The same words from the three kinds of files that have them."""
    lines = "".join(f"{i}\t{word}\t_\t{pos}\t_\t_\t_\t_\t_\t_\n" for i, (word, pos) in enumerate(WORDS, 1))
    (tmp_path / "a.conllu").write_text(lines)
    (tmp_path / "b.utf8").write_text("  ".join(word for word, _ in WORDS) + "\n")
    (tmp_path / "c.conll").write_text("南 B-PROPN\n京 E-PROPN\nIron S-X\nM B-X\na I-X\nn E-X\n的 S-PART\n")
    for name, format in [("a.conllu", "auto"), ("b.utf8", "word-text"), ("c.conll", "word-tags")]:
        code, output = run(tmp_path / name, tmp_path, "--format", format)
        assert code == 0 and "1 texts, 11 characters, 4 words, 0 entities" in output
        [doc] = load((tmp_path / name).with_suffix(".spacy"))
        assert doc.text == "南京Iron Man的" and not doc.has_annotation("ENT_IOB")
        assert [token.text for token in doc] == [word for word, _ in WORDS]
        assert [token.pos_ for token in doc] == ([pos for _, pos in WORDS] if format != "word-text" else [""] * 4)
    code, output = run(tmp_path / "a.conllu", tmp_path / "chars.spacy", "--tokenizer", "char")
    assert code == 0 and "words of the file left out, for the tokens of 'char': 1" in output
    assert len(load(tmp_path / "chars.spacy")[0]) == 10


def test_repair(tmp_path):
    (tmp_path / "train.bio").write_text("中 O\n国 I-X\n")
    code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy")
    assert code == 1
    assert "train.bio:2: 国 I-X: in BIO, entity that does not begin with B. Repair it (--repair)" in output
    assert [path.name for path in tmp_path.iterdir()] == ["train.bio"], "nothing half-written"
    code, output = run(tmp_path / "train.bio", tmp_path / "train.spacy", "--repair")
    assert code == 0
    assert "entity that does not begin with B: started there: 1 (line 2: 国 I-X)" in output


def test_encodings(tmp_path):
    (tmp_path / "old.txt").write_bytes(CONLL.encode("gb18030"))
    code, output = run(tmp_path / "old.txt", tmp_path / "out")
    assert code == 1 and "old.txt:1: byte 1 of the line is not utf-8" in output and "--encoding gb18030" in output
    assert run(tmp_path / "old.txt", tmp_path / "out", "--encoding", "gb18030", "--scheme", "bioes")[0] == 0
    assert load(tmp_path / "out" / "old.spacy")[0].text == "南京的桥"
    (tmp_path / "bad.txt").write_bytes(b"\xff\xff O\n")
    code, output = run(tmp_path / "bad.txt", tmp_path / "out", "--errors", "replace")
    assert code == 0 and "replaced by U+FFFD: 1 (line 1)" in output


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nothing", "out"], "No such file or folder: nothing"),
        (["--format", "xml"], "Unknown format 'xml'. Use auto or one of: conll, clue"),
        (["--scheme", "xml"], "Unknown tag scheme 'xml'. Use auto or one of: bio, "),
        (["--errors", "ignore"], "errors is 'ignore'; expected one of strict, replace"),
        (["--digit-suffix", "1"], "digit_suffix is '1'; expected one of"),
        (["--encoding", "klingon"], "Unknown encoding 'klingon'"),
        (["--format", "clue"], "train.bio:1: not JSON"),
    ],
)
def test_errors_without_traceback(tmp_path, arguments, message):
    (tmp_path / "train.bio").write_text(CONLL)
    if arguments[0].startswith("--"):
        arguments = [tmp_path / "train.bio", tmp_path / "out", *arguments]
    code, output = run(*arguments)
    assert code == 1 and message in output


def test_a_damaged_pipeline_as_tokenizer(tmp_path):
    (tmp_path / "train.bio").write_text(CONLL)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "meta.json").write_text("{")
    code, output = run(tmp_path / "train.bio", tmp_path / "out", "--tokenizer", tmp_path / "broken")
    assert code == 1 and "cannot be loaded" in output and "broken" in output


def test_words_of_a_file_without_words(tmp_path):
    (tmp_path / "dev.json").write_text(CLUE)
    code, output = run(tmp_path / "dev.json", tmp_path / "out", "--tokenizer", "words")
    assert code == 1 and "does not split its texts into words" in output


@pytest.mark.parametrize("given, name", [(".", "collection"), ("..", "brat"), ("../collection", "collection")])
def test_a_collection_by_its_place(tmp_path, monkeypatch, given, name):
    folder = tmp_path / "brat" / "collection"
    folder.mkdir(parents=True)
    (folder / "1.txt").write_text("南京", "utf8")
    (folder / "1.ann").write_text("T1\tGPE 0 2\t南京\n", "utf8")
    monkeypatch.chdir(folder)
    code, output = run(given, tmp_path / "out", "--format", "brat")
    assert code == 0, output
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{name}.spacy"]


def test_outputs_that_collide(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "train.bio").write_text(CONLL)
    (source / "train.json").write_text(CLUE)
    with pytest.raises(FormatError, match=r"would be written to .*train\.spacy"):
        list(convert(source, tmp_path / "out"))
    with pytest.raises(FormatError, match=r"has 2 files: give a folder to write to, not .*out\.spacy"):
        list(convert(source, tmp_path / "out.spacy"))


def test_usage():
    assert CliRunner().invoke(lexner, ["convert"]).exit_code == 2
    code, output = run("--help")
    assert code == 0 and "python -m spacy lexner convert MSRA.zip/msra_train_bio corpus/train.spacy" in output


def test_as_a_command_of_spacy(tmp_path):
    (tmp_path / "train.bio").write_text(CONLL)
    command = [sys.executable, "-m", "spacy", "lexner", "convert", str(tmp_path / "train.bio"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert len(load(tmp_path / "train.spacy")) == 2


def test_the_originals(data_dir, tmp_path):
    """The counts are those of the published sets; see tests/formats/test_read.py for what is repaired."""
    found = {}
    for name in ("weibo", "resume", "cluener"):
        for converted in convert(data_dir / "originals" / name, tmp_path / name, options=ReadOptions(repair=True)):
            docs = load(converted.path)
            report = converted.report
            assert report.n_texts == len(docs)
            assert report.n_entities == sum(len(doc.ents) for doc in docs)
            assert report.n_characters == sum(len(doc.text) for doc in docs)
            found[f"{name}/{converted.path.stem}"] = report.n_entities
    assert found == {
        "weibo/train": 1895,
        "weibo/dev": 389,
        "weibo/test": 418,
        "resume/train": 13440,
        "resume/dev": 1497,
        "resume/test": 1630,
        "cluener/train": 23969,
        "cluener/dev": 3072,
    }


def test_an_output_that_is_another_file(tmp_path):
    (tmp_path / "in.bio").write_text("我 O\n", "utf8")
    result = CliRunner().invoke(lexner, ["convert", *[str(tmp_path / "in.bio")] * 2])
    assert result.exit_code == 1 and "Give a .spacy file or a folder" in " ".join(result.output.split())
    assert (tmp_path / "in.bio").read_text("utf8") == "我 O\n"
