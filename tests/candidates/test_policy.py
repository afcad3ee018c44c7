"""Candidate words per token against what the two public LEBERT codes find, and against loops."""

import json
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.candidates.policy import candidate_slots


def all_matches(characters, lexicon):
    text, longest = "".join(characters), max(map(len, lexicon))
    assert len(text) == len(characters)
    spans = [(i, j) for i in range(len(text)) for j in range(i + 1, min(i + longest, len(text)) + 1)]
    return [(i, j) for i, j in spans if text[i:j] in lexicon]


def words_per_token(text, spans, max_words, **options):
    starts, ends = np.array(spans, "i8").reshape(-1, 2).T
    slots = candidate_slots(starts, ends, len(text), max_words, **options)
    assert slots.shape == (len(text), max_words)
    return [["".join(text[spans[n][0] : spans[n][1]]) for n in row if n >= 0] for row in slots.tolist()]


@pytest.fixture(scope="module")
def golden(fixtures_dir):
    def read(name):
        return json.loads((fixtures_dir / "pipeline" / f"{name}.json").read_text("utf8"))

    inputs = read("inputs")
    lexicon = frozenset(inputs["lexicon"])
    texts = [sentence["text"] for sentence in inputs["sentences"]]
    return texts, [all_matches(text, lexicon) for text in texts], read("lw"), read("yj")


@pytest.mark.parametrize("case", ["3", "5", "None"])
def test_the_authors_code(golden, case):
    texts, spans, lw, _ = golden
    for text, matches, row in zip(texts, spans, lw["cases"][case]["rows"]):
        max_words = 60 if case == "None" else int(case)
        ours = words_per_token(text, matches, max_words, policy="start", single_chars="uncovered")
        assert ours == row["words"][1:-1]  # without [CLS] and [SEP]


@pytest.mark.parametrize(("max_words", "case"), [(3, "trunc3"), (5, "trunc5"), (60, "words")])
def test_the_other_code(golden, max_words, case):
    texts, spans, _, yj = golden
    for text, matches, row in zip(texts, spans, yj["rows"]):
        assert words_per_token(text, matches, max_words, policy="token", single_chars="alone") == row[case]


def by_loops(spans, n_tokens, max_words, policy, single_chars):
    """The two codes, token by token."""
    rows = [[] for _ in range(n_tokens)]
    for start in range(n_tokens):
        own = [n for n, span in enumerate(spans) if span[0] == start]
        if single_chars != "keep" and len(own) > 1 and spans[own[0]] == (start, start + 1):
            own = own[1:]
        alone = len(own) == 1 and spans[own[0]] == (start, start + 1)
        if single_chars == "drop" and alone:
            own = []
        if single_chars == "uncovered" and alone and rows[start]:
            own = []
        if policy == "start":
            own = own[: max_words - len(rows[start])]
        for n in own:
            for token in range(*spans[n]):
                rows[token].append(n)
    return [row[:max_words] for row in rows]


@st.composite
def candidates(draw):
    n_tokens = draw(st.integers(1, 14))
    token = st.integers(0, n_tokens - 1)
    pairs = draw(st.sets(st.tuples(token, token).map(sorted).map(tuple), max_size=40))
    return sorted((start, last + 1) for start, last in pairs), n_tokens


@given(
    case=candidates(),
    max_words=st.integers(1, 6),
    policy=st.sampled_from(["start", "token"]),
    single_chars=st.sampled_from(["keep", "drop", "alone", "uncovered"]),
    many_words=st.sampled_from([0, 32]),
)
def test_loops(case, max_words, policy, single_chars, many_words):
    spans, n_tokens = case
    starts, ends = np.array(spans, "i8").reshape(-1, 2).T
    with patch("spacy_lexner.candidates.policy.MANY_WORDS", many_words):
        slots = candidate_slots(starts, ends, n_tokens, max_words, policy=policy, single_chars=single_chars)
    expected = by_loops(spans, n_tokens, max_words, policy, single_chars)
    assert [[n for n in row if n >= 0] for row in slots.tolist()] == expected
    assert all(row == sorted(row, key=lambda n: n < 0) for row in slots.tolist())  # the empty slots come last


def test_a_dropped_word_is_dropped_for_all_its_tokens():
    starts, ends = np.array([0, 0, 1]), np.array([2, 4, 3])
    assert candidate_slots(starts, ends, 4, 1).tolist() == [[0], [0], [-1], [-1]]
    assert candidate_slots(starts, ends, 4, 1, policy="token").tolist() == [[0], [0], [1], [1]]


def test_many_words_on_one_character_end_in_time():
    """Every prefix of a run of one character is a word: no more than a pass over the candidates."""
    n_tokens, longest = 20_000, 40
    lengths = np.minimum(longest, n_tokens - np.arange(n_tokens))
    starts = np.repeat(np.arange(n_tokens), lengths)
    ends = np.concatenate([start + 1 + np.arange(n) for start, n in enumerate(lengths)])
    for policy in ("start", "token"):
        slots = candidate_slots(starts, ends, n_tokens, 3, policy=policy)
        assert (slots >= 0).all(axis=1).mean() > 0.99


def test_no_tokens_and_no_candidates():
    none = np.zeros(0, "i8")
    assert candidate_slots(none, none, 0, 3).shape == (0, 3)
    assert (candidate_slots(none, none, 5, 3, single_chars="uncovered") == -1).all()


def test_unknown_policy():
    with pytest.raises(ValueError, match="policy = 'end'"):
        candidate_slots(np.zeros(1, "i8"), np.ones(1, "i8"), 1, 3, policy="end")
