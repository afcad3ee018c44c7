import numpy as np
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_lexner.candidates.storage import (
    USER_DATA_KEY,
    Candidates,
    align_candidates,
    count_characters,
    get_candidates,
    set_candidates,
    token_spans,
)

VOCAB = spacy.blank("zh").vocab
WORDS = st.lists(st.tuples(st.text("中国人x", min_size=1, max_size=3), st.booleans()), max_size=6)


def make_doc(words):
    return Doc(VOCAB, words=[word for word, _ in words], spaces=[space for _, space in words])


def make_candidates(pairs):
    starts, ends = np.array([p[0] for p in pairs], "i4"), np.array([p[1] for p in pairs], "i4")
    return Candidates(starts, ends, np.arange(len(pairs), dtype="u8") + 2**63)


@st.composite
def docs_and_candidates(draw):
    doc = make_doc(draw(WORDS))
    n = len(doc.text)
    pairs = draw(st.lists(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(1, 4)), max_size=8)) if n else []
    return doc, make_candidates(sorted({(start, min(start + length, n)) for start, length in pairs}))


@given(docs_and_candidates(), st.integers(0, 2**64 - 1))
def test_round_trip(pair, version):
    doc, candidates = pair
    assert get_candidates(doc) is None
    set_candidates(doc, version, candidates)
    for other in (doc, Doc(VOCAB).from_bytes(doc.to_bytes())):
        loaded_version, loaded = get_candidates(other)
        assert loaded_version == version
        assert all(np.array_equal(a, b) for a, b in zip(loaded, candidates))


@given(docs_and_candidates())
def test_token_spans_are_those_of_char_span(pair):
    doc, candidates = pair
    starts, ends, keep = token_spans(doc, candidates)
    for i, (start, end) in enumerate(zip(candidates.starts.tolist(), candidates.ends.tolist())):
        span = doc.char_span(start, end)
        assert bool(keep[i]) == (span is not None)
        if span is not None:
            assert (starts[i], ends[i]) == (span.start, span.end)


@given(docs_and_candidates())
def test_alignment_is_that_of_char_span(pair):
    doc, candidates = pair
    for mode in ("strict", "contract", "expand"):
        expected = []
        for start, end in zip(candidates.starts.tolist(), candidates.ends.tolist()):
            # A matcher never begins, ends or crosses white space.
            if " " in doc.text[start:end]:
                continue
            span = doc.char_span(start, end, alignment_mode=mode)
            expected += [] if span is None or not len(span) else [(span.start_char, span.end_char)]
        clean = [" " not in doc.text[a:b] for a, b in zip(candidates.starts.tolist(), candidates.ends.tolist())]
        given_ones = Candidates(*(array[np.array(clean, bool)] for array in candidates))
        found = align_candidates(doc, given_ones, mode)
        assert list(zip(found.starts.tolist(), found.ends.tolist())) == sorted(expected), mode


def test_foreign_data_are_not_candidates():
    doc = make_doc([("中国", False)])
    for value in (None, b"", b"short", "text", b"\x00" * 64):
        doc.user_data[USER_DATA_KEY] = value
        assert get_candidates(doc) is None


@given(WORDS)
def test_characters_are_counted_without_the_text(words):
    doc = make_doc(words)
    assert count_characters(doc) == len(doc.text)
