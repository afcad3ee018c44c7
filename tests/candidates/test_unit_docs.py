import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc, Span
from thinc.api import Linear, chain

from spacy_lexner.candidates.unit_docs import (
    READS_TOKENS,
    carry_entities,
    covering,
    find_listener,
    find_token_reader,
    has_units,
    make_unit_docs,
    split_doc,
    units_of_tokens,
)
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer

NLP, ENGLISH = spacy.blank("zh"), spacy.blank("en")
CHARACTERS = CharTokenizer(NLP.vocab)
# Combining marks, joined emoji, characters beyond the basic plane, Latin letters, white space of all kinds.
ALPHABET = "南京市a1 \n\u3000é\u0301👩\u200d👧𠮷，"


@st.composite
def tokenized(draw):
    """A Doc of any text, split into tokens anywhere, including white space."""
    text = draw(st.text(ALPHABET, min_size=1, max_size=20))
    cuts = sorted(draw(st.sets(st.integers(1, len(text)), max_size=len(text))) - {len(text)})
    words = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    spaces = [False] * len(words)
    return Doc(NLP.vocab, words=words, spaces=spaces)


def texts_of(doc):
    return [token.text_with_ws for token in doc]


@given(tokenized())
def test_units_are_the_tokens_of_the_char_tokenizer(doc):
    (unit_doc,) = make_unit_docs([doc])
    if unit_doc is not doc:
        assert texts_of(unit_doc) == texts_of(CHARACTERS(doc.text))
    assert make_unit_docs([unit_doc])[0] is unit_doc and unit_doc.text == doc.text


@given(st.lists(tokenized(), max_size=3))
def test_every_token_has_its_units(docs):
    unit_docs = make_unit_docs(docs)
    ranges = units_of_tokens(docs, unit_docs)
    if ranges is None:
        assert all(doc is unit_doc for doc, unit_doc in zip(docs, unit_docs))
        return
    units = [(i, unit) for i, unit_doc in enumerate(unit_docs) for unit in unit_doc]
    tokens = [(i, token) for i, doc in enumerate(docs) for token in doc]
    for (i, token), start, end in zip(tokens, ranges.starts.tolist(), ranges.ends.tolist()):
        own = units[start:end]
        assert own and all(number == i for number, _ in own)
        touching = [unit for _, unit in units if _touch(unit, token)]
        solid = {unit.idx for number, unit in units if number == i and _touch(unit, token)}
        assert solid <= {unit.idx for _, unit in own}
        assert touching or token.is_space
        if not token.is_space and not token.text[0].isspace():
            assert solid == {unit.idx for _, unit in own}, "white space after the token before is not its own"


def _touch(unit, token):
    return unit.idx < token.idx + len(token) and token.idx < unit.idx + len(unit)


def test_docs_that_are_their_own():
    docs = [NLP.make_doc("南京市 的\n\n长江"), Doc(NLP.vocab, ["南", "京"]), NLP.make_doc(""), ENGLISH("New York")]
    assert all(unit_doc is doc for unit_doc, doc in zip(make_unit_docs(docs), docs))
    assert units_of_tokens(docs, docs) is None
    assert not has_units(Doc(NLP.vocab, ["南京", "市"])) and has_units(Doc(ENGLISH.vocab, ["南京", "市"]))


def test_user_data_are_shared():
    doc = Doc(NLP.vocab, ["南京市", "的"], spaces=[False] * 2, user_data={"a": 1})
    (unit_doc,) = make_unit_docs([doc])
    unit_doc.user_data["b"] = 2
    assert doc.user_data == {"a": 1, "b": 2}


def test_entities_blocked_and_missing_tokens_are_carried():
    doc = Doc(NLP.vocab, ["张三", "在", "北京大学", "上", "班"], spaces=[False] * 5)
    doc.set_ents(
        [Span(doc, 0, 1, label="PER"), Span(doc, 2, 3, label="ORG", kb_id="Q16952", span_id="pku")],
        blocked=[Span(doc, 1, 2)],
        missing=[Span(doc, 3, 4)],
    )
    (unit_doc,) = make_unit_docs([doc])
    assert [(ent.text, ent.label_, ent.kb_id_, ent.id_) for ent in unit_doc.ents] == [
        ("张三", "PER", "", ""),
        ("北京大学", "ORG", "Q16952", "pku"),
    ]
    assert unit_doc.to_array("ENT_IOB").tolist() == [3, 1, 3, 3, 1, 1, 1, 0, 2]
    exact = carry_entities(doc, split_doc(doc), [(0, 1), (3, 6)])
    assert [ent.text for ent in exact.ents] == ["张", "北京大"]


@given(tokenized(), st.data())
def test_entities_of_any_tokens_are_carried(doc, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(doc)), max_size=6)))
    spans = [Span(doc, a, b, label="X") for a, b in zip(cuts[::2], cuts[1::2])]
    doc.set_ents([span for span in spans if span.text.strip()])
    (unit_doc,) = make_unit_docs([doc])
    assert [ent.text.strip() for ent in unit_doc.ents] == [ent.text.strip() for ent in doc.ents]


def test_white_space_behind_a_token_touches_it():
    doc = Doc(NLP.vocab, ["南", "京", "市"], spaces=[True, False, False])
    spans = np.array([[0, 1], [1, 2], [1, 3], [0, 4], [2, 4]]).T
    first, last = covering(doc, *spans)
    assert list(zip(first.tolist(), last.tolist())) == [(0, 1), (0, 1), (1, 2), (0, 3), (1, 3)]


def test_long_texts_take_linear_time():
    """100,000 characters without punctuation, as words, give as many units, in a single pass."""
    doc = Doc(NLP.vocab, ["南京市", "长江大桥", "很长啊"] * 10_000, spaces=[False] * 30_000)
    (unit_doc,) = make_unit_docs([doc])
    ranges = units_of_tokens([doc], [unit_doc])
    assert len(unit_doc) == 100_000 and ranges.counts.tolist() == [3, 4, 3] * 10_000
    assert ranges.ends[-1] == 100_000


def test_a_listener_is_found_wherever_it_is():
    listener = Tok2VecListener("*", 4)
    assert find_listener(listener) is listener
    assert find_listener(chain(chain(listener, Linear()), Linear())) is listener
    assert find_listener(chain(Linear(), Linear())) is None


@pytest.mark.parametrize("node", [Tok2VecListener("*", 4), Linear()])
def test_what_reads_tokens(node):
    if not hasattr(node, "receive"):
        assert find_token_reader(chain(node, Linear())) is None
        node.attrs[READS_TOKENS] = True
    assert find_token_reader(chain(Linear(), node)) is node
