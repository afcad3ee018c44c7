import os
import signal

import pytest
import spacy
from small_encoders import GOLD
from spacy.language import Language
from spacy.tokens import Doc, Span

import spacy_lexner
from spacy_lexner.scale.processes import WorkerError

TEXTS = [text for text, _ in GOLD] * 4


@Language.component("killed_by_a_text")
def killed_by_a_text(doc):
    if doc.text == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if doc.text == "fail":
        raise KeyError("a component's own error")
    return doc


@Language.component("copies_a_doc")
def copies_a_doc(doc):
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=[False] * len(doc))


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.add_pipe("killed_by_a_text")
    return nlp


def test_docs_are_complete_and_in_order(nlp):
    docs = list(spacy_lexner.pipe(nlp, [TEXTS[0], nlp(TEXTS[1]), *TEXTS[2:]], n_process=2, batch_size=3))
    assert [doc.text for doc in docs] == TEXTS and all(doc.vocab is nlp.vocab for doc in docs)


def test_docs_keep_all_that_spacy_saves():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["长江大桥"])
    one = nlp("南京市长江大桥")
    one.ents = [Span(one, 0, 3, label="GPE")]
    one.spans["names"] = [Span(one, 3, 7, label="LOC", span_id="bridge")]
    one.user_data["source"] = {"page": 3}
    one.cats["news"] = 0.5
    expected = one.to_bytes()
    [passed] = spacy_lexner.pipe(spacy.blank("zh"), [one], n_process=1)
    assert passed.to_bytes() == expected and passed.user_data["source"] == {"page": 3}
    assert [match.word for match in passed._.lex_matches] == ["长江大桥"]
    assert [(span.text, span.label_, span.id_) for span in passed.spans["names"]] == [("长江大桥", "LOC", "bridge")]


def test_contexts_stay_with_their_docs(nlp):
    pairs = ((text, number) for number, text in enumerate(TEXTS))
    found = list(spacy_lexner.pipe(nlp, pairs, as_tuples=True, n_process=2, batch_size=3))
    assert [(doc.text, number) for doc, number in found] == [(text, number) for number, text in enumerate(TEXTS)]


def test_contexts_stay_with_their_docs_when_a_text_fails(nlp):
    nlp.set_error_handler(lambda name, component, docs, error: None)
    pairs = list(zip(["京", "fail", "沪", "fail", "津"], "abcde"))
    found = [(doc.text, context) for doc, context in spacy_lexner.pipe(nlp, pairs, as_tuples=True, batch_size=3)]
    assert found == [(doc.text, context) for doc, context in nlp.pipe(pairs, as_tuples=True)]
    assert found == [("京", "a"), ("沪", "c"), ("津", "e")]
    assert [doc.text for doc in spacy_lexner.pipe(nlp, [text for text, _ in pairs])] == ["京", "沪", "津"]


def test_contexts_stay_with_docs_that_a_component_has_made(nlp):
    nlp.add_pipe("copies_a_doc")
    pairs = [("京", 1), ("沪", 2), ("津", 3)]
    found = spacy_lexner.pipe(nlp, pairs, as_tuples=True, batch_size=2)
    assert [(doc.text, context) for doc, context in found] == pairs


@pytest.mark.timeout(60)
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_a_killed_worker_is_an_error(nlp):
    stream = spacy_lexner.pipe(nlp, [*TEXTS, "kill", *TEXTS], n_process=2, batch_size=4)
    docs = []
    with pytest.raises(WorkerError, match="ended without an answer"):
        docs.extend(stream)
    assert [doc.text for doc in docs] == TEXTS[: len(docs)]


def test_errors_of_components_arrive(nlp):
    with pytest.raises(KeyError, match="own error"):
        list(spacy_lexner.pipe(nlp, [*TEXTS, "fail"], n_process=2, batch_size=4))
    with pytest.raises(ValueError, match="n_process is 0"):
        next(spacy_lexner.pipe(nlp, TEXTS, n_process=0))
    with pytest.raises(ValueError, match="batch_size is 0; expected at least 1"):
        next(spacy_lexner.pipe(nlp, TEXTS, batch_size=0))


def test_a_stream_may_be_left(nlp):
    stream = spacy_lexner.pipe(nlp, (TEXTS[0] for _ in range(10_000)), n_process=2, batch_size=4)
    assert next(stream).text == TEXTS[0]
    stream.close()


def test_where_processes_cannot_be_forked(monkeypatch):
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["长江大桥"])
    docs = list(spacy_lexner.pipe(nlp, TEXTS[:3], n_process=1, batch_size=2))
    assert [[match.word for match in doc._.lex_matches] for doc in docs] == [["长江大桥"], [], []]


@pytest.mark.parametrize("text", [None, b"a", 3])
def test_what_is_no_text_is_named(nlp, text):
    with pytest.raises(TypeError, match=r"Text 1 \(from 0\) is .*expected str or Doc"):
        list(spacy_lexner.pipe(nlp, ["京", text], n_process=1))
