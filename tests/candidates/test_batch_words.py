"""Words on units: tokens, characters, wordpieces."""

import numpy as np
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_lexner.candidates.batch_words import AttendedWords, expand_ranges, place_words, split_by_doc
from spacy_lexner.candidates.storage import find_candidates
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.level import Candidates

NLP = spacy.blank("zh")


def lexicon_of(words):
    return Lexicon.from_entries(map(LexiconEntry, words))


LEXICON = lexicon_of(["甲乙", "乙丙", "丙丁", "甲乙丙", "丁"])


def found(doc, lexicon=LEXICON):
    (candidates,) = find_candidates(Matcher(lexicon), [doc])
    return candidates, lexicon


def test_words_on_tokens():
    docs = [NLP.make_doc("甲乙丙"), NLP.make_doc(""), NLP.make_doc("丙丁")]
    words = place_words(docs, [found(doc) for doc in docs], np.ones(5, "i8"))
    assert list(zip(words.starts, words.ends)) == [(0, 2), (0, 3), (1, 3), (3, 5), (4, 5)]
    assert words.lengths.tolist() == [2, 3, 2, 2, 1]
    assert words.hashes.tolist() == [LEXICON.hash(word) for word in ("甲乙", "甲乙丙", "乙丙", "丙丁", "丁")]
    assert words.lexicons == [LEXICON] and not words.sources.any()


def test_words_on_the_units_of_longer_tokens():
    doc = Doc(NLP.vocab, words=["甲乙", "丙", "丁"], spaces=[False] * 3)
    words = place_words([doc], [found(doc)], np.array([2, 1, 3]))
    assert list(zip(words.starts, words.ends)) == [(0, 2), (0, 3), (2, 6), (3, 6)]
    assert words.lengths.tolist() == [2, 3, 2, 1]


def test_words_that_cut_tokens_stay_out():
    doc = Doc(NLP.vocab, words=["甲", "乙丙"], spaces=[False] * 2)
    candidates = Candidates(np.array([0, 0, 1]), np.array([2, 3, 3]), np.arange(3, dtype="u8"))
    words = place_words([doc], [(candidates, LEXICON)], np.array([1, 1]))
    assert list(zip(words.starts, words.ends, words.hashes)) == [(0, 2, 1), (1, 2, 2)]


def test_words_of_two_lexicons():
    docs, other = [NLP.make_doc("甲乙")] * 3, lexicon_of(["甲乙", "丙丁"])
    words = place_words(docs, [found(docs[0], lexicon) for lexicon in (LEXICON, other, LEXICON)], np.ones(6, "i8"))
    assert words.sources.tolist() == [0, 1, 0] and words.lexicons == [LEXICON, other]
    assert words.take(words.sources == 1).starts.tolist() == [2]


def test_no_docs():
    words = place_words([], [], np.zeros(0, "i8"))
    assert len(words.starts) == len(words.hashes) == 0 and words.lexicons == []


@st.composite
def docs_with_units(draw):
    docs, counts = [], []
    for _ in range(draw(st.integers(0, 4))):
        tokens = draw(st.lists(st.text("甲乙丙丁 ", min_size=1, max_size=3), max_size=8))
        spaces = draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
        docs.append(Doc(NLP.vocab, words=tokens, spaces=spaces))
        counts.append(draw(st.lists(st.integers(1, 4), min_size=len(tokens), max_size=len(tokens))))
    return docs, counts


@given(docs_with_units())
def test_against_char_span(case):
    docs, counts = case
    expected, offset = [], 0
    candidates = [found(doc) for doc in docs]
    for doc, own, (words, _) in zip(docs, counts, candidates):
        before = np.append(0, np.cumsum(own)) + offset
        offset = before[-1]
        spans = [(doc.char_span(*span), span) for span in zip(words.starts.tolist(), words.ends.tolist())]
        expected += [(before[s.start], before[s.end], end - start) for s, (start, end) in spans if s is not None]
    placed = place_words(docs, candidates, np.array([n for own in counts for n in own], "i8"))
    assert list(zip(placed.starts, placed.ends, placed.lengths)) == expected


def test_ranges():
    assert expand_ranges(np.array([5, 2, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert expand_ranges(np.zeros(0, "i8"), np.zeros(0, "i8")).tolist() == []


def test_rows_go_to_their_docs():
    parts = [AttendedWords(*np.array([[4, 0], [3, 0], [5, 2]]), np.array([0.5, 0.25]))]
    first, empty, second = split_by_doc(parts, [NLP.make_doc("南京市"), NLP.make_doc(""), NLP.make_doc("长江")])
    assert [column.tolist() for column in first] == [[0], [0], [2], [0.25]]
    assert [column.tolist() for column in second] == [[1], [0], [2], [0.5]]
    assert len(empty.tokens) == 0 and len(split_by_doc([], [])) == 0
