import gzip
import tracemalloc

import pytest
import spacy
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.data.count_words import count_words, load_tokenizer
from spacy_lexner.encoders.elmo.counted_words import read_counted_words

TEXT = "南京市长江大桥很长。\n\n大桥  在南京。\n"
TOKENIZER = """
import spacy
from spacy.tokens import Doc

@spacy.registry.tokenizers("test.pairs.v1")
def make():
    return lambda nlp: lambda text: Doc(nlp.vocab, [text[i : i + 2] for i in range(0, len(text), 2)])
"""


def run(*arguments):
    return CliRunner().invoke(lexner, ["count-words", *map(str, arguments)])


def test_characters_of_a_folder(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(TEXT, "utf8")
    with gzip.open(tmp_path / "texts" / "b.txt.gz", "wt", encoding="utf8") as file:
        file.write("南\n")
    result = run(tmp_path / "words.tsv", tmp_path / "texts")
    assert result.exit_code == 0, result.output
    words = read_counted_words(tmp_path / "words.tsv")
    assert words[:2] == [("南", 3), ("。", 2)] and ("很", 1) in words
    assert "10 words, 100.00% of the 17 in the text" in " ".join(result.output.split())
    result = run(tmp_path / "words.tsv", tmp_path / "texts", "--min-count", 2, "--max-words", 3)
    assert [count for _, count in read_counted_words(tmp_path / "words.tsv")] == [3, 2, 2]


def test_words_of_a_config(tmp_path):
    """The tokenizer of a config; its pipeline, which may need files, is not built."""
    config = spacy.blank("zh").config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"}
    config["nlp"]["pipeline"] = ["ner"]
    config["components"] = {"ner": {"source": "missing"}}
    config.to_disk(tmp_path / "config.cfg")
    (tmp_path / "text.txt").write_text("南京市长江大桥", "utf8")
    assert run(tmp_path / "words.tsv", tmp_path / "text.txt", "-t", tmp_path / "config.cfg").exit_code == 0
    assert {word for word, _ in read_counted_words(tmp_path / "words.tsv")} == {"南京市", "长江大桥"}


def test_errors_without_a_traceback(tmp_path):
    (tmp_path / "empty.txt").write_text("\n", "utf8")
    (tmp_path / "gbk.txt").write_bytes("南京".encode("gbk"))
    (tmp_path / "text.txt").write_text("南京", "utf8")
    for arguments in (
        [tmp_path / "missing.txt"],
        [tmp_path / "empty.txt"],
        [tmp_path / "gbk.txt"],
        [tmp_path / "text.txt", "--min-count", 2],
        [tmp_path / "text.txt", "-t", "no_such_pipeline"],
    ):
        result = run(tmp_path / "words.tsv", *arguments)
        assert result.exit_code == 1 and "Nothing was written" in result.output, arguments
        assert not (tmp_path / "words.tsv").exists()


def test_a_config_without_a_pipeline(tmp_path):
    (tmp_path / "text.txt").write_text("南京\n", "utf8")
    (tmp_path / "empty.cfg").write_text("[paths]\ntrain = null\n")
    result = run(tmp_path / "words.tsv", tmp_path / "text.txt", "--tokenizer", tmp_path / "empty.cfg")
    assert result.exit_code == 1 and "has no section [nlp]" in " ".join(result.output.split())


def test_forgotten_words_are_reported(tmp_path):
    text = "".join(chr(0x4E00 + number) for number in range(200)) + "的" * 5
    (tmp_path / "text.txt").write_text(text + "\n的\n", "utf8")
    result = run(tmp_path / "words.tsv", tmp_path / "text.txt", "--max-held", 20)
    assert result.exit_code == 0 and "too low for some words" in result.output
    assert read_counted_words(tmp_path / "words.tsv")[0] == ("的", 6)


def test_memory_does_not_grow_with_the_text(tmp_path):
    def peak(n_lines):
        with (tmp_path / "text.txt").open("w", encoding="utf8") as file:
            for number in range(n_lines):
                file.write(f"南京市{number}号\n")
        tracemalloc.start()
        count_words([tmp_path / "text.txt"], load_tokenizer("blank:zh"))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(100)
    assert peak(8000) < 1.5 * peak(2500)


def test_what_is_read_is_not_replaced(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(TEXT, "utf8")
    for source in (text, tmp_path):
        result = run(text, source)
        assert result.exit_code == 1 and "is read, so it cannot be written" in " ".join(result.output.split())
    assert text.read_text("utf8") == TEXT


@pytest.mark.parametrize("option, value", [("--max-words", -3), ("--min-count", 0), ("--max-held", 1)])
def test_numbers_out_of_range(tmp_path, option, value):
    (tmp_path / "text.txt").write_text(TEXT, "utf8")
    assert run(tmp_path / "words.tsv", tmp_path / "text.txt", option, value).exit_code == 2
    assert not (tmp_path / "words.tsv").exists()


def test_a_tokenizer_of_the_users_code(tmp_path):
    (tmp_path / "mine.py").write_text(TOKENIZER, "utf8")
    (tmp_path / "config.cfg").write_text('[nlp]\nlang = "zh"\n[nlp.tokenizer]\n@tokenizers = "test.pairs.v1"\n', "utf8")
    (tmp_path / "text.txt").write_text("南京南京大桥", "utf8")
    arguments = [tmp_path / "words.tsv", tmp_path / "text.txt", "--tokenizer", tmp_path / "config.cfg"]
    assert run(*arguments).exit_code == 1
    assert run(*arguments, "--code", tmp_path / "mine.py").exit_code == 0
    assert read_counted_words(tmp_path / "words.tsv") == [("南京", 2), ("大桥", 1)]
