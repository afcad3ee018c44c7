import gzip

import numpy as np
import pytest

from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.pretraining.knowledge import read_triples, train_transe

# Four kinds of entities, and three relations that each tell the kind: what is held out follows from the rest.
KINDS = np.array([[f"e{i}", name, f"{name}{i % 4}"] for i in range(40) for name in ("is", "has", "likes")])


def test_triples_are_read_once_each(tmp_path):
    text = "南京\t位于\t江苏\n\n南京 \t位于\t 江苏\n长江\t流经\t南京\n"
    (tmp_path / "a.tsv").write_text(text, "utf8")
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.tsv", "a.tsv.gz"):
        assert read_triples(tmp_path / name).tolist() == [["南京", "位于", "江苏"], ["长江", "流经", "南京"]]


@pytest.mark.parametrize("line", ["南京\t位于", "南京\t\t江苏", "南京 位于 江苏", "a\tb\tc\td"])
def test_a_triple_that_is_not_whole_is_named(tmp_path, line):
    (tmp_path / "a.tsv").write_text(f"a\tb\tc\n{line}\n", "utf8")
    with pytest.raises(LexiconError, match=r"a.tsv:2: expected head, relation and tail, separated by tabs"):
        read_triples(tmp_path / "a.tsv")


def test_too_small_a_graph_is_refused():
    pytest.importorskip("pykeen")
    with pytest.raises(ValueError, match="has 1 triples; expected at least 2"):
        train_transe(KINDS[:1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_transe_learns_and_the_seed_decides():
    pytest.importorskip("pykeen")
    settings = {"width": 16, "batch_size": 32, "held_out": 0.1, "progress_bar": False}
    first, again, other = (train_transe(KINDS, **settings, epochs=2, seed=seed) for seed in (0, 0, 1))
    assert first.vectors.shape == (52, 16) and sorted(first.ids) == sorted(set(KINDS[:, 0]) | set(KINDS[:, 2]))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert (first.n_training, first.n_held_out) == (108, 12)
    learned = train_transe(KINDS, **settings, epochs=40, learn_rate=0.02)
    assert 1 <= learned.mean_rank < 8 and learned.hits_at_10 > 0.6  # by chance: 26 of 52, and 0.2
    whole = train_transe(KINDS, **{**settings, "held_out": 0.0}, epochs=1)
    assert whole.mean_rank is None and whole.n_training == 120
