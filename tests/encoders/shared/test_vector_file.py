import numpy as np
import pytest
from vector_text import write_vectors

from spacy_lexner.encoders.shared.vector_file import read_vectors
from spacy_lexner.encoders.shared.vocab import END
from spacy_lexner.lexicon.normalization import Normalization


def test_characters_and_bigrams_are_told_apart_and_the_first_row_counts(tmp_path):
    path = tmp_path / "v.vec.gz"
    write_vectors(path, {"南": [3, 4], "南京": [1, 0], "江<end>": [0, 2], "南京市": [5, 5]})
    characters, bigrams = read_vectors(path, "characters"), read_vectors(path, "bigrams")
    assert (characters.keys, bigrams.keys) == (["南"], ["南京", "江" + END])
    np.testing.assert_array_equal(bigrams.vectors, np.array([[1, 0], [0, 2]], "f4"))


def test_without_a_file_there_are_none():
    assert read_vectors(None, "characters", 7).vectors.shape == (0, 7)
    assert read_vectors(None, "bigrams").width == 50


def test_bad_vectors(tmp_path):
    path = write_vectors(tmp_path / "c.vec", {"南": [3, 4], "京": [0, float("nan")]}, header=False)
    with pytest.warns(UserWarning, match="1 vectors hold NaN"):
        found = read_vectors(path, "characters")
    assert found.keys == ["南"]
    with pytest.raises(ValueError, match="no vectors of bigrams: keys of 2 characters"):
        read_vectors(path, "bigrams")
    with pytest.raises(ValueError, match=r"nowhere\.vec"):
        read_vectors("nowhere.vec", "characters")


def test_keys_are_normalised_and_the_one_written_so_counts(tmp_path):
    path = write_vectors(
        tmp_path / "v.vec", {"臺": [1, 0], "台": [2, 0], "灣": [3, 0], "湾": [4, 0], "裏": [5, 0], "裡": [6, 0]}
    )
    found = read_vectors(path, "characters", normalization=Normalization(script="simplified"))
    assert dict(zip(found.keys, found.vectors[:, 0].tolist())) == {"台": 2, "湾": 4, "里": 5}
    path = write_vectors(tmp_path / "b.vec", {"臺灣": [1, 0], "裏<end>": [2, 0]})
    found = read_vectors(path, "bigrams", normalization=Normalization(script="simplified"))
    assert found.keys == ["台湾", "里" + END]
