"""Outputs of a tagger, and all legal paths through them, for the tests of the heads."""

import itertools

import numpy as np

from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import TagScheme

SCHEME = TagScheme(["PER", "LOC"])


def random_outputs(seed, lengths, scale=1.0):
    rng = np.random.default_rng(seed)
    emissions = [scale * rng.normal(size=(n, SCHEME.n_tags)).astype("float32") for n in lengths]
    transitions = scale * rng.normal(size=(SCHEME.n_tags + 1, SCHEME.n_tags + 1)).astype("float32")
    return TaggerOutput(emissions, transitions)


def free(lengths):
    return [SCHEME.constraint(np.zeros(n, dtype=bool)) for n in lengths]


def legal_paths(n):
    end = SCHEME.n_tags
    for path in itertools.product(range(end), repeat=n):
        if all(SCHEME.legal[move] for move in itertools.pairwise((end, *path, end))):
            yield np.array(path)


def path_scores(emissions, transitions, paths):
    end = SCHEME.n_tags
    rows = np.arange(len(emissions))
    return np.array(
        [
            emissions[rows, path].sum() + sum(transitions[move] for move in itertools.pairwise((end, *path, end)))
            for path in paths
        ],
        dtype="float64",
    )
