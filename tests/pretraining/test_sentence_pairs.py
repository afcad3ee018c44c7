import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pretraining.sentence_pairs import Segment, sentence_pairs, truncate_pair

CORPORA = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=8), min_size=2, max_size=6)


def test_the_recorded_truncations_come_out_exactly(fixtures_dir):
    recorded = json.loads((fixtures_dir / "bert_pretraining" / "exact_runs.json").read_text("utf8"))
    for run in recorded["truncate_seq_pair"]:
        a, b = Segment(0, 0, run["len_a"]), Segment(1, 0, run["len_b"])
        cut = truncate_pair(a, b, run["max_num_tokens"], Random(run["rng_seed"]))
        for segment, (first, last, length) in zip(cut, (run["a_out"], run["b_out"])):
            assert (segment.start, segment.end - 1, segment.end - segment.start) == (first, last, length)


@given(
    documents=CORPORA,
    max_length=st.integers(5, 128),
    seed=st.integers(0, 1000),
    short_share=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_properties_of_every_pair(documents, max_length, seed, short_share):
    for index in range(len(documents)):
        pairs = list(sentence_pairs(documents, index, max_length, Random(seed), short_share=short_share))
        assert pairs
        starts = [pair.a.start for pair in pairs]
        assert starts == sorted(set(starts))
        for a, b, is_random in pairs:
            assert (a.end - a.start) + (b.end - b.start) + 3 <= max_length
            assert a.document == index
            for segment in (a, b):
                assert 0 <= segment.start < segment.end <= sum(documents[segment.document])
            if not is_random:
                assert b.document == index and b.start >= a.end


@given(documents=CORPORA, seed=st.integers(0, 1000))
def test_with_room_enough_every_piece_is_used(documents, seed):
    """Nothing is truncated, so segments A and the consecutive Bs tile the document: displaced sentences come back."""
    for index, document in enumerate(documents):
        at = 0
        for a, b, is_random in sentence_pairs(documents, index, 1000, Random(seed), short_share=0.0):
            assert a.start == at
            at = a.end if is_random else b.end
        assert at == sum(document)


def test_documents_of_one_sentence_always_get_a_random_partner():
    documents = [[7], [3], [5]]
    for seed in range(50):
        for index in range(3):
            (pair,) = sentence_pairs(documents, index, 64, Random(seed))
            assert pair.is_random and pair.b.document != index


def test_empty_sentences_count_for_nothing():
    documents = [[4, 0, 6, 0], [5], [0, 3]]
    plain = [[4, 6], [5], [3]]
    for seed in range(20):
        with_empty = list(sentence_pairs(documents, 0, 32, Random(seed)))
        assert with_empty == list(sentence_pairs(plain, 0, 32, Random(seed)))


def test_a_single_document_is_its_own_partner():
    (pair,) = sentence_pairs([[9]], 0, 32, Random(0))
    assert pair.is_random and pair.b.document == 0


def test_a_length_without_room_for_two_segments_is_refused():
    with pytest.raises(ValueError, match="max_length is 4; a pair of segments needs at least 5"):
        list(sentence_pairs([[3], [3]], 0, 4, Random(0)))
