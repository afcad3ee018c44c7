from itertools import product

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, legal_moves
from spacy_lexner.tagging.spans.word_borders import (
    BORDER,
    FREE,
    JOINED,
    UNKNOWN,
    border_tags,
    fixed_borders,
    in_words,
    word_starts,
)

VOCAB = spacy.blank("zh").vocab


def paths(allowed, legal):
    """All legal paths through what is allowed."""
    n_tags = allowed.shape[1]
    for path in product(*(np.flatnonzero(row).tolist() for row in allowed)):
        if all(legal[a, b] for a, b in zip((n_tags, *path), (*path, n_tags))):
            yield np.array(path)


@st.composite
def problems(draw):
    n, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    is_space = np.array([draw(st.booleans()) for _ in range(n)])
    borders = np.array([draw(st.sampled_from([FREE, BORDER, JOINED])) for _ in range(n + 1)], dtype=np.int8)
    borders[[0, -1]] = BORDER
    borders[:-1][is_space] = borders[1:][is_space] = BORDER
    labels = np.array([draw(st.integers(-1, n_labels - 1)) for _ in range(n)])
    for i in range(1, n):
        if borders[i] == JOINED:
            labels[i] = labels[i - 1]
    return borders, labels, is_space, n_labels


@given(problems())
def test_tags_say_exactly_what_is_known(problem):
    """Compared with all segmentations consistent with borders and labels: each is one path, and there are no others."""
    borders, labels, is_space, n_labels = problem
    scheme = TagScheme([str(i) for i in range(n_labels)])
    found = set()
    for path in paths(border_tags(borders, labels, is_space, n_labels), legal_moves(scheme.n_tags)):
        starts = word_starts(path).tolist()
        found.add((tuple(starts), tuple((path[starts] - 1) // 4)))
    expected = set()
    for inner in product(*([True, False] if b == FREE else [b == BORDER] for b in borders[1:-1])):
        starts = [0, *(i for i, border in enumerate(inner, 1) if border)]
        choices = []
        for start, end in zip(starts, [*starts[1:], len(labels)]):
            known = set(labels[start:end].tolist()) - {UNKNOWN}
            choices.append([-1] if is_space[start] else [k for k in range(n_labels) if known <= {k}])
        expected.update((tuple(starts), choice) for choice in product(*choices))
    assert found == expected and found


def test_no_tokens():
    doc = Doc(VOCAB)
    assert fixed_borders(doc).tolist() == [BORDER] and not in_words(doc)
    none = np.zeros(0, dtype=np.int64)
    assert border_tags(fixed_borders(doc), none, none.astype(bool), 2).shape == (0, 9)
    assert word_starts(none).tolist() == []


def drawn(doc):
    """The text with | at borders and - where tokens are joined."""
    states = fixed_borders(doc).tolist()
    return "".join(f"{' |-'[state].strip()}{token.text}" for state, token in zip(states, doc)) + "|"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("北京好", "|北京好|"),
        ("买iPhone15吧", "|买i-P-h-o-n-e-1-5吧|"),
        ("Iron Man的", "|I-r-o-n|M-a-n的|"),
        ("中 国", "|中|国|"),
        ("中\n\n国", "|中|\n\n|国|"),
        (" \u3000中 ", "| \u3000|中|"),
        ("3.14%和", "|3-.-1-4-%和|"),
        ("一", "|一|"),
    ],
)
def test_rules(text, expected):
    assert drawn(CharTokenizer(VOCAB)(text)) == expected


@pytest.mark.parametrize(
    "words, expected", [("南京 市 长江", True), ("我 爱 你", False), ("iPhone 15 买", False), ("第1 一", False)]
)
def test_in_words(words, expected):
    doc = Doc(VOCAB, words.split(), spaces=[False] * 3 if len(words.split()) == 3 else [False, False])
    assert in_words(doc) == expected
    assert (fixed_borders(doc) == BORDER).all() == (expected or len(doc) == 1)


def test_tokens_that_are_parts_of_a_run():
    """However a tokenizer splits Latin words, they are joined again, and tokens of several words are not split."""
    doc = Doc(VOCAB, ["买", "i", "Phone", "15", "和", "a.b"], spaces=[False] * 6)
    assert drawn(doc) == "|买i-Phone-15和a.b|"
