import copy
import pickle
import subprocess
import sys

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.lang.zh import Chinese
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lexner.pipeline.char_tokenizer import CharTokenizer, create_char_tokenizer, split_characters

CONFIG = {"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}}
SPACES = list(" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u2029\u3000")
MARKS = ["\u0301", "\u200d", "\u200b", "\u202e", "\ufe0f", "\u20e3", "\U0001f3fd", "\ufeff", "\x00", "\x07", "\x7f"]
PIECES = ["南京市", "长江", "大桥", "iPhone 15", "，", "。", "𠮷", "👨‍👩‍👧", "🇨🇳", "é", "e\u0301", "  ", " \n ", "\r\n"]
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.one_of(st.sampled_from(SPACES + MARKS + PIECES), CHARACTERS), max_size=14).map("".join)


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return Chinese().vocab


@pytest.fixture(scope="module")
def spacy_tokenizer(vocab):
    return Chinese(vocab).tokenizer


def tokens(doc: Doc):
    return [(token.text, token.whitespace_, token.idx) for token in doc]


def test_same_as_spacy_on_20000_random_strings(vocab, spacy_tokenizer):
    ours = CharTokenizer(vocab)
    seen = []

    @settings(max_examples=1000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(TEXTS, min_size=20, max_size=20, unique=True))
    def check(texts):
        for text in texts:
            doc = ours(text)
            assert tokens(doc) == tokens(spacy_tokenizer(text))
            assert doc.text == text
        seen.extend(texts)

    check()
    assert len(seen) >= 20_000
    assert len(set(seen)) >= 10_000


@given(st.text(alphabet=st.sampled_from([*SPACES, "a", "中"]), max_size=12))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_runs_of_white_space(vocab, spacy_tokenizer, text):
    assert tokens(CharTokenizer(vocab)(text)) == tokens(spacy_tokenizer(text))


@pytest.mark.parametrize(
    "text, words, spaces",
    [
        ("", [], []),
        (" ", [" "], [False]),
        ("北京 大学", ["北", "京", "大", "学"], [False, True, False, False]),
        ("北京  大学", ["北", "京", " ", "大", "学"], [False, True, False, False, False]),
        (" 北 ", [" ", "北"], [False, True]),
        ("北\n\n京", ["北", "\n\n", "京"], [False, False, False]),
        ("北　京", ["北", "　", "京"], [False, False, False]),
        ("𠮷e\u0301\x00", ["𠮷", "e", "\u0301", "\x00"], [False] * 4),
    ],
)
def test_split_characters(text, words, spaces):
    assert split_characters(text) == (words, spaces)


def test_every_kind_of_white_space_is_known():
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    ours = {char for char in every if split_characters(char + char)[0] == [char + char]}
    assert ours == {char for char in every if char.isspace()}


def test_from_config_and_in_a_pipeline(tmp_path):
    nlp = spacy.blank("zh", config=CONFIG)
    assert isinstance(nlp.tokenizer, CharTokenizer)
    nlp.initialize()
    nlp.to_disk(tmp_path / "nlp")
    text = "南京市 长江大桥\n"
    for other in (
        spacy.load(tmp_path / "nlp"),
        spacy.blank("zh", config=CONFIG).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
        copy.deepcopy(nlp),
    ):
        assert isinstance(other.tokenizer, CharTokenizer)
        assert tokens(other(text)) == tokens(nlp(text))
        assert [doc.text for doc in other.pipe([text, "", " "])] == [text, "", " "]


def test_alone_to_bytes_disk_and_pickle(vocab, tmp_path):
    tokenizer = create_char_tokenizer()(Chinese(vocab))
    pickle.loads(pickle.dumps(create_char_tokenizer()))
    tokenizer.to_disk(tmp_path / "tokenizer")
    for other in (
        CharTokenizer(vocab).from_bytes(tokenizer.to_bytes()),
        CharTokenizer(vocab).from_disk(tmp_path / "tokenizer"),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert tokens(other("北京 大学")) == tokens(tokenizer("北京 大学"))
    assert [doc.text for doc in tokenizer.pipe(["北", "京 "])] == ["北", "京 "]


def test_score(vocab):
    doc = CharTokenizer(vocab)("北京大学")
    example = Example(doc, Doc(vocab, words=["北京", "大", "学"], spaces=[False] * 3))
    assert CharTokenizer(vocab).score([example])["token_p"] == pytest.approx(0.5)


def test_lone_surrogate_is_spacys_error_with_its_place(vocab, spacy_tokenizer):
    text = "北京 \ud800大学"
    with pytest.raises(UnicodeEncodeError):
        spacy_tokenizer(text)
    with pytest.raises(UnicodeEncodeError, match=r"position 3: a lone surrogate .* text\.encode"):
        CharTokenizer(vocab)(text)
    nlp = spacy.blank("zh", config=CONFIG)
    with pytest.raises(UnicodeEncodeError):
        list(nlp.pipe(["北京", text, "大学"]))


@pytest.mark.parametrize("clone", [lambda nlp: nlp, lambda nlp: pickle.loads(pickle.dumps(nlp))])
def test_lone_surrogate_in_a_stream_is_reported_and_the_stream_goes_on(clone):
    nlp = clone(spacy.blank("zh", config=CONFIG))
    reports = []
    nlp.set_error_handler(lambda name, proc, docs, error: reports.append((name, docs, error)))
    docs = list(nlp.pipe([("北京", 0), ("大\udfff学", 1), ("上海", 2)], as_tuples=True))
    assert [(doc.text, context) for doc, context in docs] == [("北京", 0), ("大\ufffd学", 1), ("上海", 2)]
    [(name, reported, error)] = reports
    assert name == "tokenizer" and isinstance(error, UnicodeEncodeError)
    assert reported == [docs[1][0]]


def test_imports_neither_torch_nor_transformers():
    code = "import sys; sys.modules.update(torch=None, transformers=None); import spacy_lexner.pipeline.char_tokenizer"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_million_characters_and_one_more():
    nlp = spacy.blank("zh", config=CONFIG)
    doc = nlp("京" * nlp.max_length)
    assert len(doc) == nlp.max_length == 1_000_000
    with pytest.raises(ValueError, match="E088"):
        nlp("京" * (nlp.max_length + 1))
    nlp.max_length += 1
    assert len(nlp("京" * nlp.max_length)) == nlp.max_length


@pytest.mark.parametrize("text, message", [(None, "E1041"), (3, "E1041"), (["京"], "E1041"), ("京".encode(), "unpack")])
def test_what_is_no_text(text, message):
    """spaCy takes bytes for a serialised Doc."""
    nlp = spacy.blank("zh", config=CONFIG)
    with pytest.raises(ValueError, match=message):
        nlp(text)
    with pytest.raises(ValueError, match=message):
        list(nlp.pipe(["京", text]))
