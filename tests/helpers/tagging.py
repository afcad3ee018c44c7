"""Tagger outputs, and all legal paths through them."""

import itertools

import numpy as np

from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, legal_moves, span_tags

SCHEME = TagScheme(["PER", "LOC"])
LEGAL = legal_moves(SCHEME.n_tags)


def tags_of(spans, n_tokens):
    """The tags of a text with exactly these spans, which do not overlap."""
    tags = np.zeros(n_tokens, dtype=np.int64)
    for span in spans:
        tags[span.start : span.end] = span_tags(span)
    return tags


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
        if all(LEGAL[move] for move in itertools.pairwise((end, *path, end))):
            yield np.array(path)


def path_scores(emissions, transitions, paths):
    """In double precision, so that rounding is negligible beside that of single precision."""
    end, rows = SCHEME.n_tags, np.arange(len(emissions))
    emissions, transitions = emissions.astype("f8"), transitions.astype("f8")
    moves = [list(itertools.pairwise((end, *path, end))) for path in paths]
    return np.array([emissions[rows, p].sum() + sum(transitions[m] for m in own) for p, own in zip(paths, moves)])
