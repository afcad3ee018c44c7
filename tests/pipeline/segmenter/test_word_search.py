from itertools import product

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.candidates.unit_docs import is_space
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.segmenter.constraints import Constraints, allowed_tags
from spacy_lexner.pipeline.segmenter.word_search import Segmentation, count_split, find_words
from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, legal_moves
from spacy_lexner.tagging.spans.word_borders import BORDER, UNKNOWN, fixed_borders, word_starts

TOKENIZER = CharTokenizer(spacy.blank("zh").vocab)


def best_path(emissions, transitions, allowed):
    """Of all legal paths, the one with the highest score."""
    n_tags = emissions.shape[1]
    legal = legal_moves(n_tags)
    best, best_score = None, -np.inf
    for path in product(*(np.flatnonzero(row).tolist() for row in allowed)):
        moves = list(zip((n_tags, *path), (*path, n_tags)))
        if all(legal[a, b] for a, b in moves):
            score = sum(emissions[i, tag] for i, tag in enumerate(path)) + sum(transitions[a, b] for a, b in moves)
            if score > best_score:
                best, best_score = np.array(path), score
    return best


@given(st.integers(0, 10**6), st.sets(st.integers(1, 4)), st.sampled_from(["一二三四五", "一ab 二三", "一\n二\n三"]))
def test_the_best_words_that_cross_no_edge(seed, edges, text):
    rng, doc = np.random.default_rng(seed), TOKENIZER(text)
    edges = np.array(sorted(edges & set(range(1, len(doc)))), dtype=np.int64)
    emissions = rng.normal(size=(len(doc), 5)).astype("f")
    transitions = rng.normal(size=(6, 6)).astype("f")
    known = Constraints(fixed_borders(doc), edges)
    [found] = find_words(
        CRFHead(), TaggerOutput([emissions], transitions), [doc], [known], TagScheme(["WORD"]), "words"
    )
    best = best_path(emissions, transitions, allowed_tags(doc, known.all_borders, 1))
    assert found.starts.tolist() == word_starts(best).tolist()
    assert found.labels.tolist() == np.where(best[found.starts] == 0, UNKNOWN, 0).tolist()
    free = word_starts(best_path(emissions, transitions, allowed_tags(doc, known.borders, 1)))
    split = sum(1 for a, b in zip(free, [*free[1:], len(doc)]) if any(a < edge < b for edge in edges))
    assert found.report == {"split_words": split, "forced_words": 0, "refused_words": 0}


def test_a_batch():
    """Docs with and without crossed borders, and one without tokens."""
    docs = [TOKENIZER(text) for text in ("一二", "", "三四", "五")]
    scheme = TagScheme(["A", "B"])
    emissions = [np.zeros((len(doc), scheme.n_tags), dtype="f") for doc in docs]
    for rows in emissions:
        rows[:, scheme.tags.index("B-B")] = rows[:, scheme.tags.index("E-B")] = 1
    none = np.zeros(0, dtype=np.int64)
    known = [Constraints(fixed_borders(doc), none) for doc in docs]
    known[2] = known[2]._replace(edges=np.array([1]))
    found = find_words(CRFHead(), TaggerOutput(emissions, np.zeros((10, 10), dtype="f")), docs, known, scheme, "words")
    assert [s.starts.tolist() for s in found] == [[0], [], [0, 1], [0]]
    assert found[0].labels.tolist() == [1] and [s.report["split_words"] for s in found] == [0, 0, 1, 0]
    assert all(s.report["forced_words"] == s.report["refused_words"] == 0 for s in found)


def test_constraints():
    doc = TOKENIZER("一二三")
    known = Constraints(fixed_borders(doc), np.array([2]))
    assert known.all_borders.tolist() == [BORDER, 0, BORDER, BORDER] and known.borders[2] == 0
    assert allowed_tags(doc, known.borders, 3).shape == (3, 13) and not is_space(doc).any()


@pytest.mark.parametrize("edges, n", [([], 0), ([0, 3], 0), ([1], 1), ([1, 2], 1), ([2, 4], 2), ([1, 3, 5], 2)])
def test_count_split(edges, n):
    assert count_split(np.array([0, 3]), np.array(edges, dtype=np.int64)) == n


def test_empty():
    empty = Segmentation.empty()
    assert not len(empty.starts) and set(empty.report.values()) == {0}
