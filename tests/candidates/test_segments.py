from itertools import pairwise

import numpy as np
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.candidates.limits import Limits
from spacy_lexner.candidates.segments import Segment, cut_doc, cut_docs
from spacy_lexner.candidates.storage import find_candidates, get_candidates, set_candidates
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher

NLP = spacy.blank("zh")
TEXTS = st.text("南京市长江大桥。！，”\n a", max_size=80)


def cut(doc, length, lines, stops=""):
    texts, line_ends = Limits(length, lines, stops).find_texts(doc)
    return list(cut_doc(doc, texts, length)), line_ends.tolist()


def test_a_text_of_ordinary_length_is_not_cut():
    docs = [NLP.make_doc("南京市长江大桥。"), NLP.make_doc("")]
    assert cut_docs(docs, Limits(16, False)) is None


@given(TEXTS, st.integers(1, 30), st.booleans(), st.sampled_from(["", "。", "。！ "]))
def test_own_parts_cover_a_doc_once_within_the_limits(text, length, lines, stops):
    doc = NLP.make_doc(text)
    segments, line_ends = cut(doc, length, lines, stops)
    owned = [i for segment in segments if not segment.reading for i in range(segment.own_start, segment.own_end)]
    assert owned == sorted(set(range(len(doc))) - set(line_ends)) or owned == list(range(len(line_ends)))
    weights = np.zeros(len(doc))
    for segment in segments:
        weights[segment.own_start : segment.own_end] += segment.weight
        assert 0 <= segment.start <= segment.own_start <= segment.own_end <= segment.end <= len(doc)
        assert segment.end - segment.start <= length
        assert lines or not set(line_ends) & set(range(segment.start, segment.end)) or len(line_ends) == len(doc)
    assert weights.tolist() == [i in set(owned) for i in range(len(doc))]


def test_lines_are_texts_where_training_had_one_line():
    doc = NLP.make_doc("南京市\n长江大桥\n")
    assert cut(doc, 16, False) == ([Segment(0, 3, 0, 3), Segment(4, 8, 4, 8)], [3, 8])
    assert cut(doc, 16, True) == ([Segment(0, 9, 0, 9)], [])


def test_sentences_are_texts_where_training_had_one_sentence():
    doc = NLP.make_doc("南京市。长江大桥。\n很长")
    assert cut(doc, 16, False, "。")[0] == [Segment(0, 4, 0, 4), Segment(4, 9, 4, 9), Segment(10, 12, 10, 12)]
    (ends,) = cut_docs([doc], Limits(16, False, "。")).text_ends
    assert ends.tolist() == [3]  # a line end is something else
    assert cut_docs([NLP.make_doc("南京市。")], Limits(16, False, "。")) is None


def test_whole_sentences_are_read_without_context():
    doc = NLP.make_doc("南京市。长江很长！“武汉？”大桥。在长江")
    segments = cut(doc, 12, False)[0]
    assert [doc[s.own_start : s.own_end].text for s in segments] == ["南京市。长江很长！", "“武汉？”大桥。在长江"]
    assert all((s.start, s.end) == (s.own_start, s.own_end) for s in segments)


def test_a_long_sentence_is_cut_after_clauses_with_context_of_its_own():
    doc = NLP.make_doc("南京市。“武汉！”在长江，大桥很长很长，很长很长。很长")
    segments = [segment for segment in cut(doc, 14, False)[0] if not segment.reading]
    own = [doc[s.own_start : s.own_end].text for s in segments]
    assert own == ["南京市。“武汉！”", "在长江，", "大桥很长很长，", "很长很长。", "很长"]
    read = [doc[s.start : s.end].text for s in segments]
    assert read[1:4] == ["在长江，大桥很长很长，很长很", "长江，大桥很长很长，很长很长", "江，大桥很长很长，很长很长。"]


def test_a_long_sentence_is_read_again_in_shorter_segments():
    doc = NLP.make_doc("南京市。“武汉！”在长江，大桥很长很长，很长很长。很长")
    segments = cut(doc, 14, False)[0]
    own = [doc[s.own_start : s.own_end].text for s in segments if s.reading]
    assert own == ["在长江，", "大桥很长", "很长，", "很长很长", "。"]
    assert [s.weight for s in segments] == [1.0, *8 * [0.5], 1.0]
    joined = cut_docs([doc], Limits(14, False))
    rows = [np.full((len(part), 1), place.reading, "f4") for part, (_, place) in zip(joined.docs, joined.places)]
    assert joined.join(rows, np)[0].ravel().tolist() == [0.0] * 9 + [0.5] * 16 + [0.0] * 2


@given(TEXTS, st.integers(4, 20))
def test_segments_keep_the_candidates_inside_them(text, length):
    matcher = Matcher(Lexicon.from_entries([LexiconEntry(w) for w in ("南京", "南京市", "市长", "长江大桥", "大桥")]))
    doc = NLP.make_doc(text)
    (found,) = find_candidates(matcher, [doc])
    set_candidates(doc, matcher.version, found)
    segments = cut_docs([doc], Limits(length, False))
    if segments is None:
        return
    again = find_candidates(matcher, segments.docs)
    for part, expected in zip(segments.docs, again):
        version, kept = get_candidates(part)
        assert version == matcher.version
        assert all(np.array_equal(a, b) for a, b in zip(kept, expected))


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(4, 20))
def test_rows_of_segments_are_joined_and_gradients_split(texts, length):
    docs = [NLP.make_doc(text) for text in texts]
    segments = cut_docs(docs, Limits(length, False))
    if segments is None:
        return
    offsets = np.cumsum([0, *map(len, docs)])
    rows = [np.arange(a, b, dtype="f4")[:, None] for a, b in pairwise(offsets.tolist())]
    pieces = [rows[doc][segment.start : segment.end] for doc, segment in segments.places]
    read = [
        np.isin(np.arange(len(doc)), ends, invert=len(ends) < len(doc)) for doc, ends in zip(docs, segments.separators)
    ]
    assert all(np.array_equal(a, b * m[:, None]) for a, b, m in zip(segments.join(pieces, np), rows, read))
    gradients = segments.split(rows, np)
    assert sum(part.sum() for part in gradients) == sum(own[m].sum() for own, m in zip(rows, read))
    assert [len(part) for part in gradients] == [len(doc) for doc in segments.docs]
