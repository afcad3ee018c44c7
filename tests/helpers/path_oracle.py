"""All paths through a text under rules about its spans, by brute force."""

import itertools

import numpy as np
from tagging import tags_of

from spacy_lexner.tagging.spans.tag_scheme import TagSpan

NEVER = float("-inf")


def all_paths(scheme, n, extended):
    """All ways to divide a text into spans: the tags to score, and the spans."""
    if n == 0:
        yield (), ()
    for rest_length in range(n):
        length = n - rest_length
        for tags, spans in all_paths(scheme, rest_length, extended):
            start = rest_length
            if length == 1:
                yield (*tags, 0), spans
            for label in range(len(scheme.labels)):
                span = TagSpan(start, start + length, label)
                yield (*tags, *tags_of([span], n)[start:].tolist()), (*spans, span)
            for span in extended:
                if (span.start, span.end) == (start, n):
                    yield (*tags, *[0] * length), (*spans, span)


def is_consistent(spans, forced):
    there = [span for span in spans if span in forced]
    return all(any(span.start < other.end and other.start < span.end for other in there) for span in forced)


class Oracle:
    """The paths of a text that obey its rules: the score of each, by its spans."""

    def __init__(self, scheme, emissions, transitions, allowed, rules):
        n = len(emissions)
        unknown = [span for span in rules.forced if span.label >= len(scheme.labels)]
        self.paths = {}
        for tags, spans in all_paths(scheme, n, unknown):
            if not allowed[np.arange(n), list(tags)].all() or not is_consistent(spans, rules.forced):
                continue
            end = scheme.n_tags
            moves = itertools.pairwise((end, *tags, end)) if n else ()
            score = emissions[np.arange(n), list(tags)].sum() + sum(transitions[move] for move in moves)
            score += sum(rules.weights.get(span, 0.0) for span in spans)
            if score > NEVER:
                self.paths[spans] = score

    @property
    def log_z(self):
        return np.logaddexp.reduce(list(self.paths.values())) if self.paths else NEVER

    def probability(self, span):
        scores = [score for spans, score in self.paths.items() if span in spans]
        return np.exp(np.logaddexp.reduce(scores) - self.log_z) if scores else 0.0
