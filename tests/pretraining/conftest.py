"""A small pretraining run: a text, a vocabulary, a lexicon, a config."""

import functools
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from spacy import util
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH, Language
from thinc.api import Config

from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.matcher.load_lexicon import create_lexicon_loader

WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "北京", "北京大学", "大学", "中国", "河流"]
DOCUMENTS = [
    ["南京市长江大桥很长。", "大桥在南京。", "市长来了。"],
    ["北京大学在北京。", "大学很大。"],
    ["长江是中国的河流。", "河流很长。", "河流在中国。"],
]
CONFIG = """
[system]
gpu_allocator = null
seed = 3

[nlp]
lang = "zh"
pipeline = ["lex_matcher", "tok2vec"]

[components]

[components.lex_matcher]
factory = "lex_matcher"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy-lexner.LEBERT.v1"
hidden_width = 16
depth = 2
heads = 2
intermediate_width = 32

[corpora]

[corpora.pretrain]
@readers = "spacy-lexner.TextCorpus.v1"
path = null
sentences = true

[training]
gpu_allocator = null
seed = 3

[initialize]

[initialize.before_init]
@callbacks = "test.load_lexicon"

[pretraining]
max_epochs = 3
dropout = 0.1
n_save_every = null
n_save_epoch = null
component = "tok2vec"
layer = ""
corpus = "corpora.pretrain"

[pretraining.objective]
@architectures = "spacy-lexner.PretrainMLM.v1"
log_every = 0
progress_bar = false

[pretraining.batcher]
@batchers = "spacy-lexner.batch_by_padded_tokens.v1"
max_tokens = 128

[pretraining.optimizer]
@optimizers = "spacy-lexner.GroupedAdamW.v1"

[pretraining.optimizer.learn_rate]
@schedules = "spacy-lexner.warmup_linear.v1"
initial_rate = 0.01
total_steps = 40
warmup_steps = 4
"""


ENTITY_IDS = {
    "南京": "Q1",
    "南京市": "Q1",
    "长江大桥": "Q2",
    "北京大学": "Q3",
    "中国": "Q4",
    "河流": "",
    "大学": "Q9",  # has no vector
}


def small_lexicon(nlp: Language) -> Lexicon:
    return Lexicon.from_entries([LexiconEntry(word) for word in WORDS])


@util.registry.callbacks("test.load_lexicon")
def create_small_lexicon_loader() -> Callable[[Language], Language]:
    return create_lexicon_loader(small_lexicon)


def entity_lexicon(nlp: Language) -> Lexicon:
    """The first value of an entity's vector is the number in its id."""
    vectors = {f"Q{i}": np.full(4, i, "f4") for i in range(1, 5)}
    return Lexicon.from_entries(
        LexiconEntry(word, vectors.get(name), entity_id=name) for word, name in ENTITY_IDS.items()
    )


@util.registry.callbacks("test.load_entities")
def create_entity_loader() -> Callable[[Language], Language]:
    return create_lexicon_loader(entity_lexicon)


@pytest.fixture(scope="session")
def pretraining_texts(tmp_path_factory) -> Path:
    """A folder with text.txt (one sentence per line) and vocab.txt."""
    folder = tmp_path_factory.mktemp("pretraining")
    documents = ["\n".join(document) for document in DOCUMENTS * 8]
    (folder / "text.txt").write_text("\n\n".join(documents) + "\n", "utf8")
    characters = sorted({character for text in documents for character in text if not character.isspace()})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf8")
    return folder


@pytest.fixture
def pretraining_config(pretraining_texts) -> Callable[..., Config]:
    """Makes a complete config; overrides are given as {"dotted.name": value}."""

    def make(overrides: Any = None) -> Config:
        defaults = {
            "components.tok2vec.model.vocab": str(pretraining_texts / "vocab.txt"),
            "corpora.pretrain.path": str(pretraining_texts / "text.txt"),
        }
        config = Config().from_str(CONFIG)
        given = overrides or {}
        if "components.tok2vec.model" in given:
            del defaults["components.tok2vec.model.vocab"]
        for name, value in {**defaults, **given}.items():
            *sections, key = name.split(".")
            functools.reduce(dict.__getitem__, sections, config)[key] = value
        filled = util.load_model_from_config(config, auto_fill=True, validate=False).config
        return util.load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(filled)

    return make


@pytest.fixture
def ernie_overrides(pretraining_texts) -> Callable[..., Any]:
    """Makes overrides for `pretraining_config` that replace the LEBERT by an ERNIE."""

    def make(**model: Any) -> Any:
        sizes = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "entity_heads": 2}
        vocab = str(pretraining_texts / "vocab.txt")
        return {
            "initialize.before_init": {"@callbacks": "test.load_entities"},
            "components.tok2vec.model": {"@architectures": "spacy-lexner.ERNIE.v1", "vocab": vocab, **sizes, **model},
            "pretraining.objective": {
                "@architectures": "spacy-lexner.PretrainERNIE.v1",
                "log_every": 0,
                "progress_bar": False,
            },
        }

    return make
