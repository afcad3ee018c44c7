"""Streams and files of `lex_segmenter`."""

import copy
import json
import pickle
import subprocess
import sys

import pytest
import spacy
from small_segmenter import PLAIN, TEXTS, blank, everything, examples, train, words
from spacy.util import load_model_from_config


@pytest.fixture(scope="module")
def nlp():
    nlp = blank()
    train(nlp)
    return nlp


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_batches_change_nothing(nlp, batch_size):
    texts = ["", *PLAIN, " ", PLAIN[0] * 2]
    docs = list(nlp.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in docs] == texts
    assert [everything(doc) for doc in docs] == [everything(doc) for doc in map(nlp, texts)]


def test_context_goes_along(nlp):
    found = list(nlp.pipe(zip(PLAIN, range(9)), as_tuples=True))
    assert [(words(doc), number) for doc, number in found] == [(text, i) for i, (text, _) in enumerate(TEXTS)]


def test_a_document_that_fails_goes_alone(fresh):
    pipe = fresh.get_pipe("lex_segmenter")
    forward = pipe.model._func

    def failing(model, docs, is_train):
        if any("南京" in doc.text for doc in docs):
            raise RuntimeError("no such thing")
        return forward(model, docs, is_train)

    pipe.model.replace_callbacks(failing)
    failed = []
    fresh.set_error_handler(lambda name, proc, docs, error: failed.append((name, [doc.text for doc in docs])))
    assert [words(doc) for doc in fresh.pipe(PLAIN)] == [text for text, _ in TEXTS if "南京" not in text]
    assert failed == [("lex_segmenter", [PLAIN[1]])]
    assert len(fresh(PLAIN[1])) == len(PLAIN[1]), "as it was, where the handler lets it pass"


def test_several_processes(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    code = (
        "import sys, json, spacy; nlp = spacy.load(sys.argv[1])\n"
        "docs = nlp.pipe(json.loads(sys.argv[2]), n_process=2, batch_size=4)\n"
        "print(json.dumps([[[t.text, t.pos_] for t in doc] + [doc._.lex_segmentation] for doc in docs]))"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "model"), json.dumps(PLAIN * 3)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=200)
    expected = [[[t.text, t.pos_] for t in doc] + [doc._.lex_segmentation] for doc in map(nlp, PLAIN * 3)]
    assert json.loads(done.stdout) == expected


def through_bytes(nlp, tmp_path):
    return load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes())


def through_disk(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    return spacy.load(tmp_path / "model")


def through_pickle(nlp, tmp_path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle])
def test_round_trips(nlp, tmp_path, way):
    again = way(nlp, tmp_path)
    before, after = nlp.get_pipe("lex_segmenter"), again.get_pipe("lex_segmenter")
    assert after.cfg == before.cfg and after.cfg["known_words"]
    assert [everything(doc) for doc in again.pipe(PLAIN)] == TEXTS
    assert again.evaluate(examples(again, [("我们 爱 手机", "PRON VERB NOUN")]))["word_oov_r"] is not None
    train(again, steps=2)


@pytest.mark.parametrize("way", [through_bytes, through_disk, through_pickle])
def test_round_trips_before_initialization(tmp_path, way):
    again = way(blank(), tmp_path)
    train(again, steps=40)
    assert again.evaluate(examples(again))["word_f"] == 1.0


def test_not_initialized():
    nlp = blank(pos=None)
    with pytest.raises(ValueError, match="E109"):
        nlp("我爱")
    with pytest.raises(ValueError, match="E109"):
        nlp.update(examples(nlp))


def test_settings_may_be_overridden_at_loading(nlp, tmp_path):
    trained = copy.deepcopy(nlp)
    trained.to_disk(tmp_path / "model")
    assert words(spacy.load(tmp_path / "model")(PLAIN[0])) == TEXTS[0][0]
    again = spacy.load(tmp_path / "model", config={"components": {"lex_segmenter": {"retokenize": False}}})
    doc = again(PLAIN[0])
    assert [span.text for span in doc.spans["lex_words"]] == TEXTS[0][0].split()
    assert again.evaluate(examples(again))["word_f"] == 1.0
