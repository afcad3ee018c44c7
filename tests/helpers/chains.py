"""Small random trellises and all their paths."""

import itertools

import torch
from hypothesis import strategies as st

from spacy_lexner.tagging.crf import Trellis

NEVER = float("-inf")


def random_trellis(seed, lengths, n_tags, share=1.0, scale=1.0, dtype=torch.float64):
    """`share` is the probability that a tag is allowed or a move legal."""
    generator = torch.Generator().manual_seed(seed)
    n = sum(lengths)
    emissions = scale * torch.randn(n, n_tags, generator=generator, dtype=dtype)
    transitions = scale * torch.randn(n_tags + 1, n_tags + 1, generator=generator, dtype=dtype)
    allowed = torch.rand(n, n_tags, generator=generator) < share
    legal = torch.rand(n_tags + 1, n_tags + 1, generator=generator) < share
    return Trellis(emissions, transitions, allowed, legal, list(lengths))


def all_paths(trellis):
    """The allowed paths of each sequence and their scores, by brute force."""
    emissions, transitions, allowed, legal, lengths = trellis
    n_tags = emissions.shape[1]
    start = 0
    for length in lengths:
        paths, scores = [], []
        for path in itertools.product(range(n_tags), repeat=length):
            if length == 0:
                break
            moves = list(zip((n_tags, *path), (*path, n_tags)))
            rows = list(zip(range(start, start + length), path))
            if all(allowed[row] for row in rows) and all(legal[move] for move in moves):
                paths.append(path)
                scores.append(sum(emissions[row] for row in rows) + sum(transitions[move] for move in moves))
        yield paths, torch.stack(scores) if scores else emissions.new_zeros(0)
        start += length


TRELLISES = st.builds(
    random_trellis,
    seed=st.integers(0, 2**31),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    n_tags=st.integers(1, 4),
    share=st.sampled_from([1.0, 0.7, 0.4]),
    scale=st.sampled_from([0.0, 1.0, 30.0]),
)
