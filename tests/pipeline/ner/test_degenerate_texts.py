"""Degenerate texts take as much work per character as others: calls and memory are measured, not seconds."""

import sys
import tracemalloc

import pytest
from small_encoders import make_pipeline

from spacy_lexner.lexicon import LexiconEntry

SHORT, TIMES = 1000, 4
NESTED = 64  # lengths of the words of one character
TEXTS = {
    "line ends": "\n",
    "marks": "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "nested words": "哈",
    "spaces": "\u3000 ",
    "one word": "武汉市",
}


@pytest.fixture(scope="module")
def nlp():
    nlp = make_pipeline("FLAT", steps=1)
    nlp.get_pipe("lex_matcher").add_words(LexiconEntry("哈" * length) for length in range(1, NESTED + 1))
    return nlp


def work(nlp, text):
    """The number of calls of Python and C functions, and the peak memory in bytes, while a text is read."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    nlp(text)  # fill the caches kept between texts
    sys.setprofile(count)
    try:
        nlp(text)
    finally:
        sys.setprofile(None)
    tracemalloc.start()
    try:
        nlp(text)
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", TEXTS)
def test_work_grows_with_the_text(nlp, name):
    unit = TEXTS[name]
    text = unit * (SHORT // len(unit))
    short, long = work(nlp, text), work(nlp, text * TIMES)
    assert long[0] < 1.1 * TIMES * short[0]
    assert long[1] < 1.1 * TIMES * short[1]


def test_no_degenerate_text_takes_much_more_work_than_a_plain_one(nlp):
    """Without sentence ends, a text is read twice in overlapping segments: four times the characters."""
    plain = "今天天气很好，他去了南京市。"
    calls, _ = work(nlp, plain * (TIMES * SHORT // len(plain)))
    for name, unit in TEXTS.items():
        assert work(nlp, unit * (TIMES * SHORT // len(unit)))[0] < 4 * calls, name
