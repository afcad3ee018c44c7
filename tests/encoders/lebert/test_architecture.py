"""LEBERT.v1 in spaCy: configs, pipes, training, saving, pretraining."""

import random

import numpy as np
import pytest
import spacy
from spacy import registry
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.pretrain import create_pretraining_model, make_update
from thinc.api import Adam, Config, ConfigValidationError
from tolerance import moved

from spacy_lexner.lexicon.entry import LexiconEntry

TEXTS = [
    ("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]),
    ("南京市长江大桥很长", [(0, 3, "LOC"), (3, 7, "LOC")]),
    ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("今天没有事", []),
]
WORDS = ["南京", "南京市", "市长", "长江大桥", "大桥", "北京", "小明", "小红"]
LEBERT = "spacy-lexner.LEBERT.v1"
SMALL = {"@architectures": LEBERT, "hidden_width": 32, "depth": 1, "heads": 2, "intermediate_width": 32}
SHARED = """
[nlp]
lang = "zh"
pipeline = ["lex_matcher", "tok2vec", "ner"]

[components]

[components.lex_matcher]
factory = "lex_matcher"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy-lexner.LEBERT.v1"
hidden_width = 32
depth = 1
heads = 2
intermediate_width = 32

[components.ner]
factory = "ner"

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 32
maxout_pieces = 2

[components.ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
"""


def add_words(nlp):
    rng = np.random.default_rng(0)
    entries = [LexiconEntry(word, rng.normal(size=8).astype("f4")) for word in WORDS]
    nlp.get_pipe("lex_matcher").add_words(entries)
    return nlp


def make_examples(nlp):
    return [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS]


def ner_with_lebert(**changes):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    add_words(nlp)
    model = {"tok2vec": {**SMALL, **changes}}
    nlp.add_pipe("lex_ner", config={"model": model})
    return nlp


def train(nlp, examples, n_steps=60):
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(n_steps):
        nlp.update(examples, sgd=optimizer, drop=0.0)


def entities(nlp):
    return [[(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] for doc in nlp.pipe(t for t, _ in TEXTS)]


GOLD = [sorted(spans) for _, spans in TEXTS]


def test_lex_ner_learns_and_comes_back_from_disk(tmp_path):
    nlp = ner_with_lebert()
    train(nlp, make_examples(nlp))
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert entities(loaded) == GOLD
    doc, again = nlp("小红去长江大桥"), loaded("小红去长江大桥")
    assert [(ent.text, ent._.lex_score) for ent in doc.ents] == [(ent.text, ent._.lex_score) for ent in again.ents]
    from_bytes = ner_with_lebert().from_bytes(nlp.to_bytes())
    assert entities(from_bytes) == GOLD


def test_the_lexicon_is_at_work():
    """Known words change the encoder's output; a trained model notices when they are removed."""
    nlp = ner_with_lebert()
    train(nlp, make_examples(nlp), 5)
    encoder = nlp.get_pipe("lex_ner").model.get_ref("tok2vec")
    docs = [nlp.make_doc("小明在南京")]
    before = encoder.predict(docs)[0]
    nlp.get_pipe("lex_matcher").remove_words(WORDS)
    assert moved(encoder.predict(docs)[0], before, n_terms=32).any()  # the longest sum


def test_in_a_shared_tok2vec_pipe(tmp_path):
    nlp = add_words(spacy.util.load_model_from_config(Config().from_str(SHARED), auto_fill=True))
    with pytest.warns(UserWarning, match="saw only a sample of 4"):
        train(nlp, make_examples(nlp), 80)
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    assert entities(spacy.load(tmp_path / "nlp")) == GOLD
    nlp.replace_listeners("tok2vec", "ner", ["model.tok2vec"])
    assert nlp.config["components"]["ner"]["model"]["tok2vec"]["@architectures"] == "spacy-lexner.LEBERT.v1"
    nlp.remove_pipe("tok2vec")
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "alone")
    assert entities(spacy.load(tmp_path / "alone")) == GOLD


CORPUS = """
[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = null
gold_preproc = false

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = null
gold_preproc = false

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"

[initialize]

[initialize.before_init]
@callbacks = "spacy-lexner.collect_texts.v1"
"""


@pytest.mark.parametrize("named", [True, False])
def test_collect_texts_before_initialisation(tmp_path, named):
    """The whole corpus makes the vocabulary, not only the ten Docs that spaCy shows."""
    path = tmp_path / "train.spacy"
    nlp = spacy.blank("zh")
    DocBin(docs=[nlp.make_doc(text) for text in ["南京市"] * 20 + ["龘"]]).to_disk(path)
    config = Config().from_str(SHARED + CORPUS)
    for corpus in config["corpora"].values():
        corpus["path"] = None if named else str(path)
    if named:
        corpus = {"@readers": "spacy.Corpus.v1", "path": str(path), "gold_preproc": False}
        config["initialize"]["before_init"]["corpus"] = corpus
    nlp = add_words(spacy.util.load_model_from_config(config, auto_fill=True))
    nlp.initialize(lambda: make_examples(nlp))
    assert "龘" in nlp.get_pipe("tok2vec").model.shims[0].settings["wordpieces"]["tokenizer"]


def test_fill_config_keeps_every_argument():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": {"@architectures": LEBERT}}})
    filled = Config().from_str(nlp.config.to_str())
    model = filled["components"]["lex_ner"]["model"]["tok2vec"]
    assert model["adapter_layers"] == [0] and model["checkpoint"] is None and model["grad_scaler_config"] == {}
    again = spacy.util.load_model_from_config(filled, auto_fill=False, validate=True)
    assert Config(again.config["components"]).to_str() == Config(nlp.config["components"]).to_str()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"max_word": 3}, "max_word"),
        ({"policy": "end"}, "policy"),
        ({"empty": "none"}, "empty"),
        ({"words": "learned"}, "words"),
    ],
)
def test_config_errors_name_the_argument(change, named):
    with pytest.raises(ConfigValidationError, match=named):
        ner_with_lebert(**change)


@pytest.mark.parametrize("adapter_layers", [[4], [-1]])
def test_adapter_layers_out_of_range(adapter_layers):
    with pytest.raises(ValueError, match=r"adapter_layers = .* does not fit an encoder of 1 layers"):
        ner_with_lebert(adapter_layers=adapter_layers)


def test_a_pipeline_without_matcher_names_the_remedy():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_ner")
    with pytest.raises(ValueError, match="Add a `lex_matcher` to the pipeline, before the component"):
        nlp.initialize(lambda: make_examples(nlp))
    plain = spacy.blank("zh")
    plain.add_pipe("lex_ner", config={"model": {"tok2vec": {**SMALL, "adapter_layers": []}}})
    train(plain, make_examples(plain), 1)


def test_other_tokens_than_characters():
    nlp = spacy.blank("en")
    nlp.add_pipe("lex_matcher").add_words(["New York", "York"])
    nlp.add_pipe("lex_ner", config={"model": {"tok2vec": SMALL}})
    example = Example.from_dict(nlp.make_doc("Ann lives in New York."), {"entities": [(0, 3, "PER"), (13, 21, "LOC")]})
    train(nlp, [example], 40)
    assert [(ent.text, ent.label_) for ent in nlp("Ann lives in New York.").ents] == [
        ("Ann", "PER"),
        ("New York", "LOC"),
    ]


CLAUSES = [
    ("小明住在南京市，", [(0, 2), (4, 7)]),
    ("小红去北京了。", [(0, 2), (3, 5)]),
    ("今天没有事，", []),
    ("他", []),
]
WINDOW = 16


def compose(n_characters, seed):
    """Clauses in random order, truncated to a length; a truncated entity is dropped."""
    rng, text, spans = random.Random(seed), "", []
    while len(text) < n_characters:
        clause, entities = rng.choice(CLAUSES)
        spans += [(len(text) + start, len(text) + end, "E") for start, end in entities]
        text += clause
    return text[:n_characters], [span for span in spans if span[1] <= n_characters]


def test_entities_are_the_same_wherever_the_borders_of_windows_fall():
    nlp = ner_with_lebert(window=WINDOW, stride=8)
    texts = [compose(length, seed) for seed, length in enumerate([8, 12, 16, 24, 40, 60] * 3)]
    train(nlp, [Example.from_dict(nlp.make_doc(text), {"entities": spans}) for text, spans in texts], 40)
    for seed in range(100, 110):
        for length in (WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW):
            text, spans = compose(length, seed)
            found = [(ent.start_char, ent.end_char, ent.label_) for ent in nlp(text).ents]
            whole = [span for span in found if span[1] < length]  # what is cut off by the end of the text is open
            assert whole == [span for span in spans if span[1] < length], text


def test_pretraining_by_spacy():
    """`spacy pretrain` disables all pipes, initialises with one Doc, and saves the encoder's bytes."""
    nlp = ner_with_lebert()
    nlp.initialize(lambda: make_examples(nlp))
    sizes = {"maxout_pieces": 2, "hidden_size": 16, "n_characters": 2}
    objective = registry.resolve({"x": {"@architectures": "spacy.PretrainCharacters.v1", **sizes}})["x"]
    settings = {"component": "lex_ner", "layer": "tok2vec", "objective": objective, "dropout": 0.0}
    model = create_pretraining_model(nlp, settings)
    docs = [nlp.make_doc(text) for text, _ in TEXTS]
    optimizer = Adam(0.01)
    losses = [make_update(model, docs, optimizer, model.attrs["loss"]) for _ in range(8)]
    assert losses[-1] < losses[0]
    saved = model.get_ref("tok2vec").to_bytes()
    other = ner_with_lebert()
    fresh = other.get_pipe("lex_ner").model.get_ref("tok2vec").from_bytes(saved)
    encoder = nlp.get_pipe("lex_ner").model.get_ref("tok2vec")
    np.testing.assert_array_equal(fresh.predict([other.make_doc(TEXTS[0][0])])[0], encoder.predict(docs[:1])[0])
