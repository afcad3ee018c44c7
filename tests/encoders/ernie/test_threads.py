"""Threads that ask for entities at the same time, right after a lexicon was linked."""

import sys
import threading

import numpy as np
import pytest

from spacy_lexner.encoders.ernie.entity_node import EntityIndex
from spacy_lexner.lexicon import Lexicon, LexiconEntry

N_WORDS = 300


@pytest.fixture(autouse=True)
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def lexicon(offset):
    vectors = np.eye(N_WORDS, dtype="f4")
    return Lexicon.from_entries(
        LexiconEntry(f"词{i}", vector=vectors[i], entity_id=f"Q{i + offset}") for i in range(N_WORDS)
    )


def ask(index, lexicon, offset):
    ids = [f"Q{i + offset}" for i in range(N_WORDS)]
    rows = lexicon.rows(index.of(lexicon).hashes(ids))
    assert rows.tolist() == list(range(N_WORDS))


def in_threads(calls):
    failures = []

    def run(call):
        try:
            call()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_no_thread_sees_half_of_the_index():
    shared = lexicon(0)
    for _ in range(20):
        index = EntityIndex()
        in_threads([lambda index=index: ask(index, shared, 0)] * 4)


def test_each_thread_has_the_entities_of_its_own_lexicon():
    index, lexicons = EntityIndex(), [lexicon(0), lexicon(1000)]
    in_threads([lambda i=i: [ask(index, lexicons[i % 2], i % 2 * 1000) for _ in range(5)] for i in range(4)])
