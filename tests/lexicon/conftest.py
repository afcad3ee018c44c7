"""Shared by the lexicon's tests: an oracle for matching, and a small lexicon."""

from typing import Callable, Iterable, List, Sequence, Tuple

import numpy as np
import pytest
from hypothesis import settings

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.rules import Rule

settings.register_profile("untimed", deadline=None)  # how long an example takes says little on a busy machine
settings.load_profile("untimed")

FoundT = List[Tuple[int, int, int]]
WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京", "市", "南"]


@pytest.fixture(scope="session")
def find_all() -> Callable[[Iterable[str], Sequence[str]], FoundT]:
    """Every word in every text, by trying all substrings: (text, start, end), sorted."""

    def find(words: Iterable[str], texts: Sequence[str]) -> FoundT:
        known = set(words)
        lengths = sorted({len(word) for word in known})
        return [
            (i, start, start + length)
            for i, text in enumerate(texts)
            for start in range(len(text))
            for length in lengths
            if text[start : start + length] in known and start + length <= len(text)
        ]

    return find


@pytest.fixture
def entries() -> List[LexiconEntry]:
    return [
        LexiconEntry(
            *(word, np.full(4, i, "f4"), i + 0.5, "LOC" if i % 2 else "", f"Q{i}"),
            rules=(Rule("prefer", "LOC", i + 0.5),) if i % 3 == 0 else (),
        )
        for i, word in enumerate(WORDS)
    ]


@pytest.fixture
def lexicon(entries: List[LexiconEntry]) -> Lexicon:
    return Lexicon.from_entries(entries)
