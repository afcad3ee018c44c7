import gzip
import sys

import numpy as np
import pytest

from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.readers import read_word_vectors
from spacy_lexner.training.word_vectors import VectorSettings, segment_with_jieba, split_units, train_vectors

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
    assert split_units("中 国\u200b人 ", "char") == ["中", "国", "人"]
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
