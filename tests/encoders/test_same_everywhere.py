"""The same texts give the same entities and scores, however they reach a pipeline."""

import random
import threading
from itertools import chain

import pytest
import spacy
from small_encoders import ENCODERS, GOLD, make_pipeline, small_lexicon
from spacy.util import minibatch

import spacy_lexner
from spacy_lexner.checkpoints.int8 import quantize
from spacy_lexner.pipeline.ner.combine import combine

N_TEXTS = 100
CLOSE = 1e-4  # scores in batches of other sizes: sums in another order
KINDS = [*ENCODERS, "ensemble", "combined", "int8"]


def make_texts():
    rng = random.Random(0)
    pieces = [*(text for text, _ in GOLD), *small_lexicon(), "的", "，", "。", " ", "A", "3", "去了", "𠮷", "\n"]
    return ["".join(rng.choices(pieces, k=rng.randint(0, 12))) for _ in range(N_TEXTS)]


TEXTS = make_texts()


@pytest.fixture(scope="module", params=KINDS)
def nlp(request):
    if request.param == "combined":
        return combine({"a": make_pipeline("FLAT"), "b": make_pipeline("LEBERT")}, "lex_ner")
    nlp = make_pipeline("LEBERT" if request.param == "int8" else request.param, steps=20)
    if request.param == "int8":
        pytest.importorskip("torchao")
        quantize(nlp)
    return nlp


@pytest.fixture(scope="module")
def expected(nlp):
    found = [answer(nlp(text)) for text in TEXTS]
    assert sum(map(len, found)) > N_TEXTS / 10
    return found


def answer(doc):
    return [(ent.start_char, ent.end_char, ent.label_, ent._.lex_score) for ent in doc.ents]


def assert_same(docs, expected):
    found = [answer(doc) for doc in docs]
    assert len(found) == len(expected)
    for text, ours, theirs in zip(TEXTS, found, expected):
        assert [ent[:3] for ent in ours] == [ent[:3] for ent in theirs], text
        assert [ent[3] for ent in ours] == pytest.approx([ent[3] for ent in theirs], abs=CLOSE), text


@pytest.mark.parametrize("batch_size", [7, 64, 256])
def test_in_batches(nlp, expected, batch_size):
    assert_same(nlp.pipe(TEXTS, batch_size=batch_size), expected)


@pytest.mark.timeout(120)
def test_in_processes(nlp, expected):
    assert_same(nlp.pipe(TEXTS, batch_size=64, n_process=2), expected)
    assert_same(spacy_lexner.pipe(nlp, TEXTS, batch_size=64, n_process=2), expected)


def test_after_bytes_and_disk_and_at_once_in_threads(nlp, expected, tmp_path):
    spacy_lexner.save(nlp, tmp_path / "model")
    assert_same(in_threads(spacy.load(tmp_path / "model")), expected)
    again = spacy.blank("zh").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert_same(in_threads(again), expected)


def in_threads(nlp, n_threads=4):
    """The first texts that a pipeline sees come in several threads."""
    parts = [list(part) for part in minibatch(TEXTS, size=-(-len(TEXTS) // n_threads))]
    docs = [[] for _ in parts]
    start = threading.Barrier(len(parts))

    def run(i):
        start.wait()
        docs[i] = list(nlp.pipe(parts[i], batch_size=16))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return chain.from_iterable(docs)


def test_in_memory_zones(nlp, expected):
    found = []
    for batch in minibatch(TEXTS, size=50):
        with nlp.memory_zone():
            found += [answer(doc) for doc in nlp.pipe(batch)]
    assert [[ent[:3] for ent in doc] for doc in found] == [[ent[:3] for ent in doc] for doc in expected]
    scores = [[ent[3] for doc in each for ent in doc] for each in (found, expected)]
    assert scores[0] == pytest.approx(scores[1], abs=CLOSE)
