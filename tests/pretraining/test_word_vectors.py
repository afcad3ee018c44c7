import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.readers import read_word_vectors
from spacy_lexner.pretraining.word_vectors import VectorSettings, segment_with_jieba, split_units, train_vectors

SENTENCES = ["北京 在 中国", "上海 在 中国", "苹果 很 好吃", "香蕉 很 好吃", "OK 好吃"]


def cut(text):
    return text.split(" ")


@pytest.fixture
def text(tmp_path):
    pytest.importorskip("gensim")
    path = tmp_path / "text.txt.gz"
    with gzip.open(path, "wt", encoding="utf8") as file:
        file.write("\n".join(SENTENCES * 60) + "\n\n")
    return path


def test_units():
    assert split_units("中 国\u200b人\u200e ", "char") == ["中", "国", "人"]
    assert split_units("中 国\ufeff人", "bigram") == ["中国", "国人", "人<end>"]
    assert split_units("中国 很\u3000大", "word", cut) == ["中国", "很大"]
    assert split_units("", "bigram") == []
    with pytest.raises(ValueError, match="'syllable'"):
        split_units("中", "syllable")


def test_jieba():
    pytest.importorskip("jieba")
    assert split_units("我爱北京天安门", "word", segment_with_jieba) == ["我", "爱", "北京", "天安门"]


@pytest.mark.parametrize("unit,expected", [("word", "好吃"), ("char", "好"), ("bigram", "吃<end>")])
def test_vectors_make_a_lexicon(text, tmp_path, unit, expected):
    output = tmp_path / "out" / "vectors.txt"
    settings = VectorSettings(dim=8, min_count=2, epochs=2, workers=1)
    n = train_vectors([text], output, unit, settings, segment=cut, progress=False)
    lexicon = Lexicon.from_entries(read_word_vectors(output))
    assert len(lexicon) == n and lexicon.dim == 8
    vector = lexicon.get(expected).vector
    assert np.isfinite(vector).all() and vector.any()
    assert unit != "word" or "OK" not in lexicon


def test_similar_words_have_similar_vectors(text, tmp_path):
    settings = VectorSettings(dim=12, min_count=2, epochs=20, workers=1, sample=0, window=2)
    train_vectors([text], tmp_path / "v.txt", "word", settings, segment=cut, progress=False)
    lexicon = Lexicon.from_entries(read_word_vectors(tmp_path / "v.txt"))
    vectors = {word: v / np.linalg.norm(v) for word in lexicon for v in [lexicon.get(word).vector]}
    assert vectors["北京"] @ vectors["上海"] > vectors["北京"] @ vectors["香蕉"]


def test_nothing_frequent_enough(text, tmp_path):
    with pytest.raises(ValueError, match="lower min_count"):
        train_vectors([text], tmp_path / "v.txt", settings=VectorSettings(min_count=10**6), segment=cut, progress=False)
    assert not (tmp_path / "v.txt").exists()


def test_without_gensim(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match="extra `vectors`"):
        train_vectors([], tmp_path / "v.txt")


MEASURED = """
import sys
from pathlib import Path
from spacy_lexner.pretraining.word_vectors import VectorSettings, train_vectors
settings = VectorSettings(dim=8, epochs=1, workers=1)
train_vectors([Path(sys.argv[1])], Path(sys.argv[2]), "char", settings, progress=False)
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux' /proc")
def test_memory_does_not_grow_with_the_text(tmp_path):
    pytest.importorskip("gensim")
    peaks = []
    for n_lines in (3_000, 60_000):
        path = tmp_path / f"{n_lines}.txt"
        path.write_text(
            "".join(chr(0x4E00 + i % 500) * 3 + "南京市长江大桥很长，我们都喜欢看见它。\n" for i in range(n_lines)),
            "utf8",
        )
        command = [sys.executable, "-c", MEASURED, str(path), str(tmp_path / "v.txt")]
        peaks.append(int(subprocess.run(command, capture_output=True, check=True, text=True).stdout))
    grown = (tmp_path / "60000.txt").stat().st_size - (tmp_path / "3000.txt").stat().st_size
    assert 1024 * (peaks[1] - peaks[0]) < 0.3 * grown  # as a list of characters, the text would take ten times its size


def test_a_line_of_ten_megabytes_and_lines_that_say_nothing(tmp_path):
    pytest.importorskip("gensim")
    path = tmp_path / "long.txt"
    path.write_text("\n \n\u200b\n" + "南京市" * 1_100_000 + "\n", "utf8")
    n = train_vectors([path], tmp_path / "v.txt", "char", VectorSettings(dim=2, epochs=1, sample=1), progress=False)
    assert n == 3


@pytest.mark.parametrize("content, message", [(b"", "occurs 5 times"), ("南京\n".encode("gbk"), "line 1")])
def test_text_that_is_empty_or_not_utf8(tmp_path, content, message):
    pytest.importorskip("gensim")
    (tmp_path / "text.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        train_vectors([tmp_path / "text.txt"], tmp_path / "v.txt", "char", progress=False)
    assert not (tmp_path / "v.txt").exists()
