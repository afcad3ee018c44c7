"""What NCRF++ taggers should find, by enumerating all paths."""

from itertools import pairwise, product

import numpy as np

from spacy_lexner.tagging.ncrf.tags import labels_of
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, TagSpan

TAGS = ("O", "B-A", "M-A", "E-A", "B-B")
SCHEME = TagScheme(labels_of(TAGS))
N = len(TAGS) + 2


def make(seed, *lengths):
    random = np.random.default_rng(seed)
    emissions = [random.normal(size=(n + 2, N)).astype("f4") for n in lengths]
    transitions = random.normal(size=(N + 1, N + 1)).astype("f4")
    return emissions, transitions


def enumerate_paths(emissions, transitions):
    """All paths: their spans and scores. The last two tags are the start and the stop."""
    names = [*TAGS, "O", "O"]
    emissions, transitions = emissions.astype("f8"), transitions.astype("f8")
    for path in product(range(N), repeat=len(emissions)):
        score = transitions[-1, path[0]] + transitions[path[-1], -1]
        score += sum(emissions[i, tag] for i, tag in enumerate(path))
        score += sum(transitions[a, b] for a, b in pairwise(path))
        spans = {TagSpan(a, b, SCHEME.index(label)) for a, b, label in read([names[tag] for tag in path[1:-1]])}
        yield spans, float(score)


def allow(*lengths):
    return [np.ones((n, SCHEME.n_tags), dtype=bool) for n in lengths]


def read(tags):
    """The spans as read by seqeval: a span continues only from B or I to I or E of the same label."""
    found, start = [], 0
    for i, tag in enumerate(tags):
        before = tags[i - 1] if i else "O"
        goes_on = before[0] in "BMI" and tag[0] in "MIE" and before[2:] == tag[2:]
        start = start if goes_on else i
        after = tags[i + 1] if i + 1 < len(tags) else "O"
        stays = tag[0] in "BMI" and after[0] in "MIE" and tag[2:] == after[2:]
        if tag != "O" and not stays:
            found.append((start, i + 1, tag[2:]))
    return found
