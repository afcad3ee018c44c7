import numpy as np
import pytest

from spacy_lexner.lexicon import vector_spool
from spacy_lexner.lexicon.vector_spool import VectorSpool


@pytest.mark.parametrize("limit", [1 << 26, 64])  # in memory, and in a file
def test_rows_come_back(monkeypatch, limit):
    monkeypatch.setattr(vector_spool, "MAX_IN_MEMORY", limit)
    monkeypatch.setattr(vector_spool, "CHUNK_ROWS", 4)
    data = np.random.default_rng(0).normal(size=(50, 8)).astype("f2")
    with VectorSpool(data.dtype) as spool:
        assert [spool.append(row) for row in data[:3]] == [0, 1, 2]
        spool.extend(data)
        spool.extend(data, np.array([49, 0, 7, 7, 3]))
        vectors = spool.finish()
    assert spool.size == 58 and spool.dim == 8
    np.testing.assert_array_equal(vectors, np.concatenate([data[:3], data, data[[49, 0, 7, 7, 3]]]))
    assert not vectors.flags.writeable


def test_no_vectors():
    with VectorSpool(np.dtype("f4")) as spool:
        spool.extend(np.zeros((0, 7), "f4"))
        assert spool.finish().shape == (0, 0)
