import pytest
import spacy
from small_ner import blank, train
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lexner.pipeline.annotate_texts import annotate_texts

read = []
NO_DOC = "it returned no Doc: it has a fault, or passed its error to the error handler"


@Language.component("fails_on_bad")
def fails_on_bad(doc):
    if "坏" in doc.text:
        raise RuntimeError("cannot do this")
    return doc


@Language.component("has_no_message")
def has_no_message(doc):
    raise AssertionError


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.add_pipe("fails_on_bad")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PER", "pattern": "王明"}])
    return nlp


@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_a_text_that_fails_takes_no_other_along(nlp, batch_size):
    nlp.max_length = 8
    failed = {}
    texts = ["王明", "坏王明", "", "长" * 9, "王明"]
    docs = dict(annotate_texts(nlp, texts, failed, batch_size))
    assert {i: len(doc.ents) for i, doc in docs.items()} == {0: 1, 2: 0, 4: 1}
    assert failed[1] == "fails_on_bad: cannot do this" and failed[3].startswith("tokenizer: [E088]")
    assert sorted(failed) == [1, 3]


def test_an_error_without_a_message_is_named_by_its_type(nlp):
    nlp.add_pipe("has_no_message")
    failed = {}
    assert list(annotate_texts(nlp, ["王明"], failed)) == []
    assert failed == {0: "has_no_message: AssertionError()"}


def test_error_handlers_are_left_alone(nlp):
    """A handler that only records the error would silently drop the text."""
    noted = []
    nlp.set_error_handler(lambda *arguments: noted.append(arguments))
    failed = {}
    assert [i for i, _ in annotate_texts(nlp, ["王明", "坏王明"], failed)] == [0]
    assert failed == {1: "fails_on_bad: cannot do this"} and noted


def test_components_that_take_no_error_handler():
    """spaCy's own `ner` is one."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("fails_on_bad")
    nlp.add_pipe("ner").add_label("PER")
    nlp.initialize()
    failed = {}
    assert [i for i, _ in annotate_texts(nlp, ["王明", "坏王明", "李雷"], failed)] == [0, 2]
    assert failed == {1: "fails_on_bad: cannot do this"}


def test_a_component_that_gives_its_errors_to_the_handler():
    """Trainable ones return None then, also when they are called alone."""
    nlp = blank()
    train(nlp)
    nlp.add_pipe("fails_on_bad", first=True)
    nlp.get_pipe("lex_ner").predict = lambda docs: 1 / 0
    nlp.set_error_handler(lambda *arguments: None)
    failed = {}
    assert list(annotate_texts(nlp, ["王明"], failed)) == []
    assert failed == {0: f"lex_ner: {NO_DOC}"}


@Language.component("makes_a_new_doc")
def makes_a_new_doc(doc):
    read.append(doc.text)
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=[False] * len(doc))


def test_docs_that_a_component_has_made_are_annotated_once(nlp):
    """spaCy does not know which texts they belong to."""
    read.clear()
    nlp.add_pipe("makes_a_new_doc")
    texts = ["王明", "李雷", "韩梅"]
    assert [(i, doc.text) for i, doc in annotate_texts(nlp, texts, {})] == list(enumerate(texts))
    assert read == texts


@Language.component("forgets_the_doc")
def forgets_the_doc(doc):
    return doc if doc.text == "王明" else None


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_component_that_returns_nothing(nlp, place):
    nlp.add_pipe("forgets_the_doc", **{place: True})
    failed = {}
    assert [i for i, _ in annotate_texts(nlp, ["王明", "李雷"], failed)] == [0]
    assert failed == {1: f"forgets_the_doc: {NO_DOC}"}
