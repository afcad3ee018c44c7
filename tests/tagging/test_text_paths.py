from itertools import pairwise

import numpy as np
import pytest
from tolerance import near

from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import legal_moves
from spacy_lexner.tagging.text_paths import UNLIKELY, part_separated, part_texts


@pytest.mark.parametrize("text", ["ab\ncd", "\nab\n\ncd\n", "\n", "a\nb\nc"])
def test_lines_are_paths_of_their_own(text):
    rng = np.random.default_rng(0)
    n_tags = 5
    transitions = rng.normal(size=(n_tags + 1, n_tags + 1)).astype("f4")
    rows = rng.normal(size=(len(text), n_tags)).astype("f4")
    ends = np.array([i for i, character in enumerate(text) if character == "\n"])
    parted = rows.copy()
    part_separated(TaggerOutput([parted], transitions), [ends])

    def score(emissions, tags):
        moves = sum(transitions[a, b] for a, b in pairwise(tags))
        return emissions[range(len(tags)), tags].sum() + transitions[-1, tags[0]] + moves + transitions[tags[-1], -1]

    for _ in range(20):
        tags = np.where(np.isin(np.arange(len(text)), ends), 0, rng.integers(n_tags, size=len(text)))
        lines = [part for part in np.split(np.arange(len(text)), sorted({*ends, *(ends + 1)})) if len(part)]
        expected = sum(score(rows[line], tags[line]) for line in lines if line[0] not in ends)
        scale = max(abs(parted[range(len(tags)), tags]).max(), abs(transitions).max())
        assert score(parted, tags) == near(expected, 4 * len(text), scale)


@pytest.mark.parametrize("lengths", [[3, 4], [1, 1, 2], [5], [2, 1, 3]])
def test_texts_are_paths_of_their_own(lengths):
    rng = np.random.default_rng(1)
    n_tags = 5
    transitions = rng.normal(size=(n_tags + 1, n_tags + 1)).astype("f4")
    rows = rng.normal(size=(sum(lengths), n_tags)).astype("f4")
    rows[:, 0] += 9.0  # outside is the most probable tag
    borders = np.cumsum(lengths)
    parted = rows.copy()
    part_texts(TaggerOutput([parted], transitions), [borders[:-1] - 1])
    legal = legal_moves(n_tags)
    for _ in range(50):
        tags = rng.integers(n_tags, size=len(rows))
        crossing = [i - 1 for i in borders[:-1] if tags[i - 1] in (1, 2) or tags[i] in (2, 3)]
        if crossing:
            assert min(parted[i, tags[i]] for i in [*crossing, *(i + 1 for i in crossing)]) < UNLIKELY / 2
            continue
        if any(tags[i - 1] and tags[i] for i in borders[:-1]):
            continue  # exact only where one is the most probable tag
        paths = [tags[end - n : end] for n, end in zip(lengths, borders)]
        score = rows[range(len(tags)), tags].sum()
        score += sum(transitions[-1, path[0]] + transitions[path[-1], -1] for path in paths)
        score += sum(transitions[a, b] for path in paths for a, b in pairwise(path) if legal[a, b])
        moves = sum(transitions[a, b] for i, (a, b) in enumerate(pairwise(tags), 1) if i in borders or legal[a, b])
        got = parted[range(len(tags)), tags].sum() + transitions[-1, tags[0]] + moves + transitions[tags[-1], -1]
        assert got == near(score, 4 * len(tags), 20.0)
