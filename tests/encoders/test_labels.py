"""Labels of words as evidence, in every encoder that reads words."""

import random
import warnings

import numpy as np
import pytest
import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.errors import LexiconWarning

BERT = {"hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 32, "dropout": 0.0, "attention_dropout": 0.0}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **BERT}
ENCODERS = {
    "flat": {"@architectures": "spacy-lexner.FLAT.v1", "width": 32, "heads": 4},
    "soft-lexicon": {"@architectures": "spacy-lexner.SoftLexicon.v1", "width": 32, "dropout": 0.0},
    "lebert": LEBERT,
    "word-bilstm": {
        "@architectures": "spacy-lexner.WordBiLSTM.v1",
        "hidden_width": 16,
        "dropout": 0.0,
        "tok2vec": {**LEBERT, "adapter_layers": []},
    },
}
CHARACTERS = "甲乙丙丁戊己庚辛壬癸"
PAIRS = [one + other for one in CHARACTERS for other in CHARACTERS]
random.Random(0).shuffle(PAIRS)
NAMES, NEW = PAIRS[:60], PAIRS[60:]
LABELS = ("PER", "ORG")


def dictionary(words, labelled=True):
    return [LexiconEntry(word, label=LABELS[i % 2] if labelled else "") for i, word in enumerate(words)]


def make_pipeline(tok2vec, entries):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(entries)
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec}
    nlp.add_pipe("lex_ner", config={"model": model, "threshold": 0.0})
    return nlp


def examples(nlp, words):
    texts = [(f"今天{word}来了", [(2, 4, LABELS[i % 2])]) for i, word in enumerate(words)]
    return [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in texts]


def train(nlp, steps, names=NAMES[:12]):
    fix_random_seed(0)
    gold = examples(nlp, names)
    optimizer = nlp.initialize(lambda: gold)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(gold, sgd=optimizer, drop=0.0)
    return nlp


def words_of(nlp):
    """The WordVectors of the encoder."""
    shims = [shim for node in nlp.get_pipe("lex_ner").model.walk() for shim in node.shims]
    modules = [shim.module for shim in shims if isinstance(shim, ModuleShim)]
    found = [part for module in modules for name, part in module.named_modules() if name.split(".")[-1] == "words"]
    return next(part for part in found if part is not None)


def emissions(nlp, text):
    return nlp.get_pipe("lex_ner").model.predict([nlp.get_pipe("lex_matcher")(nlp.make_doc(text))])[0][0]


@pytest.mark.parametrize("encoder", ["flat", "lebert"])
def test_labels_alone_tell_the_types_of_new_words(encoder):
    """Two kinds of names that nothing else tells apart: both are any two of ten characters, in the same context. With
    labels a model knows the kind of names that training lacks; without, it guesses."""
    scores = []
    for labelled in (True, False):
        nlp = train(make_pipeline(ENCODERS[encoder], dictionary(PAIRS, labelled)), 40, NAMES)
        scores.append(nlp.evaluate(examples(nlp, NEW))["ents_f"])
    assert scores[0] >= 0.9 and scores[1] <= 0.7, scores


@pytest.mark.parametrize("encoder", ENCODERS)
def test_labels_reach_the_emissions(encoder, tmp_path):
    nlp = train(make_pipeline(ENCODERS[encoder], dictionary(NAMES[:12])), 2)
    vectors = words_of(nlp).labels
    assert vectors.shape[0] == 3 and vectors[1:].any(1).all() and not vectors[0].any()
    nlp.to_disk(tmp_path)
    matcher, text = nlp.get_pipe("lex_matcher"), f"今天{NAMES[0]}来了"
    before = emissions(nlp, text)
    assert np.array_equal(emissions(spacy.load(tmp_path), text), before)
    matcher.add_words([LexiconEntry(NAMES[0], label="ORG")])
    assert not np.array_equal(emissions(nlp, text), before)
    matcher.add_words([LexiconEntry(NAMES[0], labels=LABELS)])
    both = emissions(nlp, text)
    assert not np.array_equal(both, before)
    matcher.set_lexicon(type(matcher.lexicon).from_entries(map(LexiconEntry, NAMES[:12])))
    bare = emissions(nlp, text)
    assert not np.array_equal(bare, before)
    with pytest.warns(LexiconWarning, match="ignores them: NEW"):
        matcher.add_words([LexiconEntry(NAMES[0], label=f"NEW-{encoder}")])
        assert np.array_equal(emissions(nlp, text), bare)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("option", [True, False])
def test_without_labels_there_is_nothing_to_learn(encoder, option):
    """No parameters, the same results as if the option did not exist, and labels added later change nothing."""
    encoder = {**ENCODERS[encoder], "lexicon": {"labels": option}}
    nlp = train(make_pipeline(encoder, dictionary(NAMES[:12], labelled=not option)), 2)
    assert words_of(nlp).labels is None
    text = f"今天{NAMES[0]}来了"
    before = emissions(nlp, text)
    nlp.get_pipe("lex_matcher").add_words(dictionary(NAMES[:12]))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LexiconWarning)
        assert np.array_equal(emissions(nlp, text), before)
        assert np.array_equal(emissions(nlp, text), before)
    assert len(said) == int(option)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_models_saved_before_there_were_labels_load(encoder):
    nlp = train(make_pipeline(ENCODERS[encoder], dictionary(NAMES[:12], labelled=False)), 2)
    model = nlp.get_pipe("lex_ner").model
    text = f"今天{NAMES[0]}来了"
    before = emissions(nlp, text)
    for node in model.walk():
        node.attrs.pop("trained_lexicon", None)
        for shim in node.shims:
            if isinstance(shim, ModuleShim):
                shim.settings.pop("labels", None)
                for part in shim.settings.values():
                    if isinstance(part, dict):
                        part.pop("n_labels", None)
    other = make_pipeline(ENCODERS[encoder], dictionary(NAMES[:12], labelled=False))
    other.get_pipe("lex_ner").from_bytes(nlp.get_pipe("lex_ner").to_bytes())
    assert np.array_equal(emissions(other, text), before)


@pytest.mark.parametrize("encoder", [*ENCODERS, "ernie"])
def test_dropout_of_words_in_training_only(encoder):
    """With every word dropped a model trains as with an empty lexicon, and predicts with its words."""
    ernie = {"@architectures": "spacy-lexner.ERNIE.v1", **BERT, "entity_width": 8}
    tok2vec = {**({**ENCODERS, "ernie": ernie}[encoder]), "lexicon": {"lexicon_dropout": 1.0}}
    rng = np.random.default_rng(0)
    entries = [LexiconEntry(word, rng.normal(size=8).astype("f4"), entity_id=word) for word in NAMES[:12]]
    nlp = make_pipeline(tok2vec, entries)
    nlp.initialize(lambda: examples(nlp, NAMES[:12]))
    model, docs = nlp.get_pipe("lex_ner").model, [nlp(f"今天{NAMES[0]}来了")]
    node = next(node for node in model.walk() if node.name == "lexicon")
    assert len(node.predict(docs)[0][0].starts) == 1 and len(node(docs, True)[0][0][0].starts) == 0
    seen = []
    forward = node._func
    node._func = lambda m, X, is_train: (seen.append(is_train), forward(m, X, is_train))[1]
    model.predict(docs)
    model.begin_update(docs)
    assert seen == [False, True]
