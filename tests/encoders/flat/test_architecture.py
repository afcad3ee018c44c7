"""FLAT.v1 and WordBiLSTM.v1 in spaCy: configs, pipes, training, saving, sub-models."""

from inspect import signature

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import Config, ConfigValidationError
from tolerance import moved

from spacy_lexner.encoders.flat.architecture import build_flat_v1
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.pipeline.explain import explain

TEXTS = [
    ("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]),
    ("南京市长江大桥很长", [(0, 3, "LOC"), (3, 7, "LOC")]),
    ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("今天没有事", []),
]
GOLD = [sorted(spans) for _, spans in TEXTS]
WORDS = ["南京", "南京市", "市长", "长江大桥", "大桥", "北京", "小明", "小红"]
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 32, "heads": 4}
WORD_BILSTM = {"@architectures": "spacy-lexner.WordBiLSTM.v1", "hidden_width": 16}
LEBERT = {
    "@architectures": "spacy-lexner.LEBERT.v1",
    "hidden_width": 16,
    "depth": 1,
    "heads": 2,
    "intermediate_width": 16,
}


def add_words(nlp):
    rng = np.random.default_rng(0)
    entries = [LexiconEntry(word, rng.normal(size=8).astype("f4")) for word in WORDS]
    nlp.get_pipe("lex_matcher").add_words(entries)
    return nlp


def ner_with(**tok2vec):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    add_words(nlp)
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec}
    nlp.add_pipe("lex_ner", config={"model": model})
    return nlp


def make_examples(nlp):
    return [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS]


def train(nlp, n_steps=80, rate=0.005):
    spacy.util.fix_random_seed(0)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = rate
    for _ in range(n_steps):
        losses = nlp.update(examples, sgd=optimizer, drop=0.0)
    return losses


def entities(nlp):
    return [[(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] for doc in nlp.pipe(t for t, _ in TEXTS)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"positions": {"kind": "scalar", "absolute": "add"}},
        {"positions": {"fusion": "gate"}, "layers": 2, "sublayers": {"residual": "input", "shared_norm": False}},
    ],
)
def test_lex_ner_learns_and_comes_back_from_disk(tmp_path, options):
    nlp = ner_with(**FLAT, **options)
    train(nlp)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert entities(loaded) == GOLD
    doc, again = nlp("小红去长江大桥"), loaded("小红去长江大桥")
    assert [(ent.text, ent._.lex_score) for ent in doc.ents] == [(ent.text, ent._.lex_score) for ent in again.ents]
    assert entities(ner_with(**FLAT, **options).from_bytes(nlp.to_bytes())) == GOLD


@pytest.mark.parametrize("freeze_steps", [0, 40])
def test_with_a_lebert_beside_the_characters(tmp_path, freeze_steps):
    nlp = ner_with(**FLAT, contextual=LEBERT, freeze_steps=freeze_steps)
    train(nlp)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD


@pytest.mark.parametrize("tok2vec", [FLAT, {**FLAT, "contextual": LEBERT}, {**WORD_BILSTM, "tok2vec": LEBERT}])
def test_several_together(tmp_path, tok2vec):
    nlp = ner_with(**tok2vec)
    member = nlp.get_pipe_config("lex_ner")["model"]
    nlp.remove_pipe("lex_ner")
    model = {"@architectures": "spacy-lexner.EnsembleTagger.v1", "member": member, "n_members": 2}
    nlp.add_pipe("lex_ner", config={"model": model})
    train(nlp, n_steps=160)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD
    # The copies are built as the first member is: with its weights they say what it says.
    first, other = nlp.get_pipe("lex_ner").model.layers
    docs = list(nlp.pipe(text for text, _ in TEXTS))
    alone = first.predict(docs)[0]
    assert moved(alone[0], other.predict(docs)[0][0], n_terms=100).any()  # the longest sum: two vectors of 50 values
    other.from_bytes(first.to_bytes())
    for ours, theirs in zip(alone, other.predict(docs)[0]):
        np.testing.assert_array_equal(ours, theirs)
    explain(nlp, docs[0])
    assert docs[0].ents[1]._.lex_words


def test_with_a_listener_beside_the_characters(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    add_words(nlp)
    shared = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 16, "depth": 1, "embed_size": 100}
    rest = {"pretrained_vectors": None, "window_size": 1, "maxout_pieces": 2, "subword_features": True}
    nlp.add_pipe("tok2vec", config={"model": {**shared, **rest}})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": {**FLAT, "contextual": listener}}
    nlp.add_pipe("lex_ner", config={"model": model})
    assert nlp.get_pipe("tok2vec").listening_components == ["lex_ner"]
    train(nlp)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD


def test_words_behind_an_encoder(tmp_path):
    nlp = ner_with(**{**WORD_BILSTM, "tok2vec": LEBERT})
    train(nlp, rate=0.01)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD


def test_as_a_shared_tok2vec_pipe():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    add_words(nlp)
    nlp.add_pipe("tok2vec", config={"model": FLAT})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    nlp.add_pipe("ner", config={"model": {"@architectures": "spacy.TransitionBasedParser.v2", "tok2vec": listener}})
    with pytest.warns(UserWarning, match="saw only a sample of 4"):
        train(nlp, 100)
    assert entities(nlp) == GOLD


def test_without_a_lexicon():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": {**FLAT, "words": "none"}}})
    train(nlp)
    assert entities(nlp) == GOLD


def test_fill_config_keeps_every_argument():
    nlp = ner_with(**FLAT)
    filled = Config().from_str(nlp.config.to_str())
    model = filled["components"]["lex_ner"]["model"]["tok2vec"]
    assert (model["max_words"], model["contextual"], model["positions"]) == (4.0, None, {})
    again = spacy.util.load_model_from_config(filled, auto_fill=False, validate=True)
    assert Config(again.config["components"]).to_str() == Config(nlp.config["components"]).to_str()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"fuse": "ff"}, "fuse"),
        ({"words": "all"}, "words"),
        ({"character_dropout": 0.1}, r"\[...embedding\] character_dropout"),
        ({"fusion": "ff_two", "positions": {"learned": True}}, r"\[...positions\] fusion"),
        ({"positions": "scalar"}, r"\[...positions\] kind"),
        ({"post": "an"}, r"\[...sublayers\] norm, residual, dropout"),
        ({"positions": {"fusoin": "ff"}}, r"positions -> fusoin\s+unknown option. The block has kind, fusion, "),
        ({"positions": {"fusion": "ff_tow"}}, r"positions -> fusion\s+got 'ff_tow', expected one of 'ff', 'ff_linear'"),
        ({"sublayers": {"inner_dropout": "high"}}, r"inner_dropout\s+got 'high', expected float"),
    ],
)
def test_config_errors_name_the_argument(change, named):
    with pytest.raises(ConfigValidationError, match=named):
        ner_with(**FLAT, **change)


def test_few_settings():
    blocks = {"embedding", "positions", "attention", "sublayers", "lexicon"}
    assert len(signature(build_flat_v1).parameters.keys() - blocks) <= 12
