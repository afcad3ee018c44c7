"""The texts that are chosen, checked on two kinds of made-up texts."""

import math
import random

import numpy as np
import pytest

from spacy_lexner.weak import like as like_module
from spacy_lexner.weak.like import BUCKETS, Kind, LikeTexts, count_pairs, hash_pairs

DRAW = random.Random(0)
POSTS = ["今晚" + "".join(DRAW.choices("好饿想吃面啊哈", k=12)) for _ in range(100)]
NEWS = ["会议" + "".join(DRAW.choices("决定发展经济建设国家", k=12)) for _ in range(300)]


def test_others_like_the_given_texts_are_chosen():
    texts = LikeTexts(POSTS[:50], lambda: [*NEWS, *POSTS[50:]])
    found = list(texts)
    assert found[:50] == POSTS[:50]
    assert not set(found) & set(NEWS) and 10 <= len(found[50:]) == texts.n_chosen <= 40  # about half of them
    assert texts.n_read == 350
    assert list(texts) == found  # once more


def test_texts_of_one_kind_are_about_halved():
    found = list(LikeTexts(POSTS[:50], lambda: POSTS[50:]))[50:]
    assert 10 <= len(found) <= 40


def test_a_score_is_the_mean_of_logarithms():
    kind = Kind(["甲乙", "甲丙"], ["甲乙", "丁"])
    n_given, n_all = 6, 11  # pairs, with the borders of texts

    def mean(counts, n_given):
        """Of the pairs of 甲乙, with their counts in the given texts and in all."""
        shares = [(in_all + 0.5) / (n_all + BUCKETS / 2) for _, in_all in counts]
        return np.mean(
            [math.log((own + 6 * share) / ((n_given + 6) * share)) for (own, _), share in zip(counts, shares)]
        )

    assert kind.score("甲 乙") == pytest.approx(mean([(2, 3), (1, 2), (1, 2)], n_given))
    assert kind.score("甲乙", given=True) == pytest.approx(mean([(1, 3), (0, 2), (0, 2)], n_given - 3))


def test_pairs_of_batches_are_those_of_texts(monkeypatch):
    monkeypatch.setattr(like_module, "BATCH", 7)
    texts = ["\ud800", "", "a b", *POSTS[:20]]
    assert len(hash_pairs(["甲乙"])) == 3
    alone = sum(np.bincount(hash_pairs([text]), minlength=BUCKETS) for text in texts)
    assert (count_pairs(texts) == alone).all()


def test_no_text_is_given():
    with pytest.raises(ValueError, match="no text that others should be like"):
        LikeTexts([], lambda: POSTS)
