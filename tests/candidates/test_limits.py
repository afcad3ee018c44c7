import re

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.candidates.limits import JOINED, Limits
from spacy_lexner.candidates.storage import find_candidates, set_candidates
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher

NLP = spacy.blank("zh")


def limits(*texts):
    return Limits.of(map(NLP.make_doc, texts))


def texts(text, **known):
    doc = NLP.make_doc(text)
    found, _ = Limits(100, False, **known).find_texts(doc)
    return [doc[start:end].text for start, end in found]


def test_lengths_are_those_of_training():
    docs = [NLP.make_doc("南" * n) for n in [*range(1, 100), 5000]]
    assert Limits.of(docs) == Limits(99, False, " 。！？", 5)  # the longest of a hundred does not count
    docs[-2].user_data[JOINED] = True
    assert Limits.of(docs).length == 98
    assert Limits.of([]) == Limits(16, False, " 。！？", 0)
    assert limits("南京\n市", "南\n\n京").lines and not limits("南京市\n").lines


@pytest.mark.parametrize(
    "trained_on, stops",
    [
        (["南京市。", "长江大桥，", "“很长！”"], " 。！？"),
        (["南京。很长", "武汉。"], " ！？"),  # texts of several sentences
        (["南京。\n很长。"], " 。！？"),  # the ends of lines are ends
        (["南京；", "长江；很长"], " 。！？"),  # at the end of texts and within them
        (["南京；", "长江"], " 。！？；"),
        (["南京 很长。"], "。！？"),
        (["南京。 "], " 。！？"),  # nothing after the white space
    ],
)
def test_what_ends_a_text(trained_on, stops):
    assert limits(*trained_on).stops == "".join(sorted(stops))


def test_texts_end_with_signs():
    assert texts("南京。“很长！”他说？！长江", stops="。！") == ["南京。", "“很长！”", "他说？！", "长江"]
    assert texts("南京。很长", stops="") == ["南京。很长"]
    assert texts("。。\n。", stops="。") == ["。。", "。"]


def test_white_space_leaves_no_short_texts():
    assert texts("南京市 长江 大桥很长很长", stops=" ", shortest=3) == ["南京市", "长江 大桥很长很长"]
    assert texts("南 京 市", stops=" ", shortest=2) == ["南 京 市"]
    assert texts("南京\u3000市长", stops=" ") == ["南京", "市长"]
    assert texts(" 南京。\u3000 市长\n\u3000", stops=" 。") == ["南京。", "市长"]
    assert texts("南京。 市长", stops=" 。", shortest=2) == ["南京。", "市长"]


def test_no_text_ends_within_a_name():
    assert texts("富士 施乐 Air Max 好", stops=" ") == ["富士", "施乐", "Air Max", "好"]
    doc = NLP.make_doc("富士 施乐。好！听 好")
    matcher = Matcher(Lexicon.from_entries([LexiconEntry("富士 施乐"), LexiconEntry("好！听")]))
    set_candidates(doc, matcher.version, *find_candidates(matcher, [doc]))
    found, _ = Limits(100, False, "。！ ").find_texts(doc)
    assert [doc[start:end].text for start, end in found] == ["富士 施乐。", "好！听", "好"]


@given(
    st.text("南京。！ \n\u3000x", max_size=40),
    st.booleans(),
    st.sampled_from(["", "。", " ", " 。！"]),
    st.integers(0, 9),
)
def test_texts_cover_a_doc_once(text, lines, stops, shortest):
    doc = NLP.make_doc(text)
    found, separators = Limits(100, lines, stops, shortest).find_texts(doc)
    covered = [i for start, end in found for i in range(start, end)]
    assert covered == sorted(set(range(len(doc))) - set(separators.tolist())) or found == [(0, len(doc))]
    assert all(start < end for start, end in found) or not len(doc)
    assert np.all(np.diff(np.array(found).ravel()) >= 0)


@given(st.text("南京。！；”） \n\u2028", max_size=12), st.sampled_from(["", "。", " ", " 。！；"]))
def test_what_is_told_at_once_is_true(text, stops):
    """A Doc that may not be split is not split by the slow path either."""
    doc = NLP.make_doc(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spacy_lexner.candidates.limits._may_split", lambda stops: re.compile(""))
        (expected, separators) = Limits(100, False, stops).find_texts(doc)
    found = Limits(100, False, stops).find_texts(doc)
    assert found[0] == expected and found[1].tolist() == separators.tolist()
