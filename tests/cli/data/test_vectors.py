import random
import re

import numpy as np
import pytest
import spacy
from tolerance import assert_close
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.data.vectors import get_segmenter
from spacy_lexner.lexicon import Lexicon
from spacy_lexner.lexicon.readers import read_word_vectors

WORDS = ["南京", "长江", "大桥", "很长", "我们", "喜欢", "看见"]
SMALL = ["--dim", "4", "--epochs", "1", "--min-count", "2", "--workers", "1", "--sample", "1"]


def run(*arguments):
    result = CliRunner().invoke(lexner, ["vectors", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


def read(path):
    return {entry.word: entry.vector for entry in read_word_vectors(path)}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    generator = random.Random(0)
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    path.write_text("\n".join("".join(generator.choices(WORDS, k=6)) for _ in range(60)))
    return path


@pytest.fixture(scope="module")
def trained(text, tmp_path_factory):
    """The output of one run with all units, and the given lexicon words."""
    folder = tmp_path_factory.mktemp("out")
    (folder / "words.txt").write_text("我们看见大桥 9 ns\n长我 3 n\n大桥 4 n\n龘 2 n\n")
    code, output = run(folder / "vectors", text, "--words", folder / "words.txt", *SMALL)
    assert code == 0, output
    return folder / "vectors", output


def test_vectors(trained):
    folder, output = trained
    words, characters, bigrams = (read(folder / f"{name}.vec") for name in ("words", "chars", "bigrams"))
    assert set(WORDS) <= set(words)
    assert set(characters) == set("".join(WORDS))
    assert "南京" in bigrams and all(len(vector) == 4 for vector in bigrams.values())
    assert f"words.vec: {len(words)} vectors of 4 dimensions" in output


def test_lexicon(trained):
    folder, output = trained
    words, characters = read(folder / "words.vec"), read(folder / "chars.vec")
    lexicon = Lexicon.open(folder / "lexicon")
    assert set(lexicon) == {*words, "我们看见大桥", "长我", "龘"}
    assert (lexicon.get("大桥").weight, lexicon.get("大桥").label) == (4, "n")
    np.testing.assert_array_equal(lexicon.get("大桥").vector, words["大桥"])
    assert "我们看见大桥" not in words
    inside = [word for word in words if len(word) > 1 and word in "我们看见大桥"]
    expected = np.mean([words[word] for word in inside], 0)
    assert_close(lexicon.get("我们看见大桥").vector, expected, len(inside) + 1)
    assert_close(lexicon.get("长我").vector, (characters["长"] + characters["我"]) / 2, n_terms=3)
    assert lexicon.get("龘").vector.tolist() == [0, 0, 0, 0]
    assert (
        f"{len(words)} words with a vector of their own, 1 composed from shorter words, 1 from characters, 1" in output
    )


def test_a_tokenizer_and_one_unit(text, tmp_path):
    code, output = run(tmp_path, text, "--unit", "word", "--tokenizer", "blank:zh", "--dtype", "float16", *SMALL)
    assert code == 0, output
    assert set(read(tmp_path / "words.vec")) == set("".join(WORDS))
    assert not (tmp_path / "chars.vec").exists()
    assert Lexicon.open(tmp_path / "lexicon").get("南").vector.dtype == "float16"


def test_a_segmenter_forgets(monkeypatch):
    nlp = spacy.blank("zh")
    monkeypatch.setattr("spacy_lexner.cli.data.vectors.load_tokenizer", lambda name: nlp)
    segment, n_strings = get_segmenter("blank:zh"), len(nlp.vocab.strings)
    assert segment("龘龖") == ["龘", "龖"]
    assert len(nlp.vocab.strings) == n_strings


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--unit", "syllable"], "--unit syllable: expected word, char, bigram"),
        (["--unit", "char", "--words", "x.txt"], "add --unit word"),
        (["--tokenizer", "no_such_pipeline"], "no_such_pipeline"),
        (["--min-count", "999999"], "occurs 999999 times"),
    ],
)
def test_errors(text, tmp_path, arguments, message):
    code, output = run(tmp_path / "out", text, *SMALL, *arguments)
    assert code == 1 and message in output


def test_nothing_is_written_over(trained, text):
    code, output = run(trained[0], text, *SMALL)
    assert code == 1 and "Replace it (--force)" in output
    assert run(trained[0].parent / "new", trained[0] / "none.txt")[0] == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--dtype", "int8"], "--dtype int8: expected float32, float16"),
        (["--words", "{tmp}/none.txt"], "none.txt: no such file"),
        (["--words", "{tmp}/bad.txt"], "bad.txt:1: not utf8"),
        (["--words", "{tmp}/wide.vec"], "wide.vec: vectors of 3 dimensions; expected 4"),
    ],
)
def test_what_the_lexicon_needs_is_checked_before_training(text, tmp_path, arguments, message):
    (tmp_path / "bad.txt").write_bytes(b"\xff\n")
    (tmp_path / "wide.vec").write_text("1 3\n大桥 1 2 3\n", "utf8")
    code, output = run(tmp_path / "out", text, *SMALL, *(argument.format(tmp=tmp_path) for argument in arguments))
    assert code == 1 and message in output and not (tmp_path / "out").exists()


def test_the_output_is_checked_before_training(trained, text, tmp_path):
    (tmp_path / "file").touch()
    code, output = run(tmp_path / "file", text, *SMALL)
    assert code == 1 and "file is a file. Give a folder" in output
    lexicon, vectors = ((trained[0] / name).read_bytes() for name in ("lexicon/manifest.json", "chars.vec"))
    code, output = run(trained[0], text, "--unit", "char", *SMALL)
    assert code == 1 and "chars.vec already exists. Replace it (--force)" in output
    assert (trained[0] / "chars.vec").read_bytes() == vectors
    code, output = run(trained[0], text, "--unit", "char", *SMALL, "--force")
    assert code == 0, "the lexicon stays as it is"
    assert (trained[0] / "lexicon" / "manifest.json").read_bytes() == lexicon


def test_a_lexicon_that_cannot_be_written(text, tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr("spacy_lexner.cli.data.vectors.save", refuse)
    code, output = run(tmp_path / "out", text, "--unit", "word", *SMALL)
    assert code == 1 and "The lexicon was not written No space left" in output
    assert (tmp_path / "out" / "words.vec").exists()
