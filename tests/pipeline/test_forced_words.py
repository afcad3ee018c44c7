from itertools import pairwise

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.layers.word_borders import BORDER, FREE, JOINED, rule_borders
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher, MatchOptions
from spacy_lexner.lexicon.source import LexiconSource
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.forced_words import ForcedWords, choose_words, force_words

TOKENIZER = CharTokenizer(spacy.blank("zh").vocab)


def source_of(forced, others=()):
    entries = [LexiconEntry(word, label="force") for word in forced] + [LexiconEntry(word) for word in others]
    return LexiconSource(Matcher(Lexicon.from_entries(entries), MatchOptions()))


def texts(doc, spans):
    return [doc[start:end].text for start, end in spans]


def test_only_words_with_the_label():
    words = ForcedWords()
    words.link.source = source_of(["长江", "长江大桥", "云 南".replace(" ", "")], ["大桥", "南京"])
    doc = TOKENIZER("南京长江大桥，长江\n")
    assert texts(doc, words.find(doc)) == ["长江", "长江大桥", "长江"]
    assert words.find(TOKENIZER("")) == [] and words.find(TOKENIZER("大桥 南京")) == []


def test_another_lexicon():
    words = ForcedWords()
    words.link.source = source_of(["长江"])
    doc = TOKENIZER("南京长江")
    assert texts(doc, words.find(doc)) == ["长江"]
    words.link.source.set(source_of(["南京"], ["长江"]).matcher)
    assert texts(doc, words.find(doc)) == ["南京"]


def test_no_lexicon():
    with pytest.raises(ValueError, match="no lexicon is linked"):
        ForcedWords().find(TOKENIZER("南京"))


def choose(doc, spans, edges=()):
    return choose_words(spans, rule_borders(doc), np.array(edges, dtype=np.int64))


def test_the_longest_from_left_to_right():
    doc = TOKENIZER("南京市长江大桥")
    chosen = choose(doc, [(0, 2), (0, 3), (2, 4), (3, 5), (3, 7), (5, 7)])
    assert texts(doc, chosen.spans) == ["南京市", "长江大桥"] and chosen.refused == 0
    assert choose(doc, []) == ([], 0)


def test_edges_win():
    doc = TOKENIZER("南京市长江大桥")
    chosen = choose(doc, [(0, 3), (0, 7), (2, 4), (3, 7)], edges=[3])
    assert texts(doc, chosen.spans) == ["南京市", "长江大桥"] and chosen.refused == 2
    assert choose(doc, [(0, 3)], edges=[1, 2]) == ([], 1)


def test_words_are_not_found_inside_of_what_is_never_cut():
    doc = TOKENIZER("PAID AI，AA股A股")
    chosen = choose(doc, [(1, 3), (4, 6), (8, 10), (10, 12)])
    assert texts(doc, chosen.spans) == ["AI", "A股"] and chosen.refused == 0


def test_forced():
    doc = TOKENIZER("南京市长江大桥")
    assert force_words(rule_borders(doc), [(0, 3), (3, 7)]).tolist() == [1, 2, 2, 1, 2, 2, 2, 1]
    single = force_words(rule_borders(doc), [(2, 3)])
    assert single.tolist() == [1, 0, 1, 1, 0, 0, 0, 1]


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(1, 4))), st.sets(st.integers(1, 11)))
def test_chosen_words_never_overlap_and_cross_nothing(spans, edges):
    doc = TOKENIZER("一二三四五abc六七八九")
    rules = rule_borders(doc)
    occurrences = sorted((start, start + length) for start, length in spans)
    chosen = choose(doc, occurrences, sorted(edges)).spans
    assert all(a[1] <= b[0] for a, b in pairwise(chosen)) and set(chosen) <= set(occurrences)
    forced = force_words(rules, chosen)
    for start, end in chosen:
        assert forced[start] == forced[end] == BORDER and set(forced[start + 1 : end].tolist()) <= {JOINED}
        assert not edges & set(range(start + 1, end))
    assert (forced[rules == JOINED] == JOINED).all() and (forced[rules == BORDER] == BORDER).all()
    free = [s for s in occurrences if all(rules[i] != JOINED for i in s) and not edges & set(range(s[0] + 1, s[1]))]
    covered = {i for start, end in chosen for i in range(start, end)}
    assert all(covered & set(range(*s)) for s in free), "one that fits is only left out for another"
    assert (forced == FREE).sum() <= (rules == FREE).sum()
