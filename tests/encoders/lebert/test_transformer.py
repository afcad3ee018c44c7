"""LEBERTTransformer.v1 in the `transformer` pipe, with spacy-transformers' own listeners."""

import logging

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import Config, ConfigValidationError
from tolerance import moved
from transformers import BertConfig, BertModel

from spacy_lexner.lexicon.entry import LexiconEntry

CONFIG = """
[nlp]
lang = "zh"
pipeline = ["lex_matcher", "transformer", "ner", "tagger"]

[components]

[components.lex_matcher]
factory = "lex_matcher"

[components.transformer]
factory = "transformer"

[components.transformer.model]
@architectures = "spacy-lexner.LEBERTTransformer.v1"
name = null
tokenizer_config = {"use_fast": true}
hidden_width = 32
depth = 1
heads = 2
intermediate_width = 32

[components.transformer.model.get_spans]
@span_getters = "spacy-transformers.strided_spans.v1"
window = 128
stride = 96

[components.ner]
factory = "ner"

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 32
maxout_pieces = 2
use_upper = false

[components.ner.model.tok2vec]
@architectures = "spacy-transformers.TransformerListener.v1"
grad_factor = 1.0

[components.ner.model.tok2vec.pooling]
@layers = "reduce_mean.v1"

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy-transformers.TransformerListener.v1"
grad_factor = 1.0

[components.tagger.model.tok2vec.pooling]
@layers = "reduce_mean.v1"
"""
TEXTS = [
    ("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]),
    ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("今天没有事", []),
]
WORDS = ["南京", "南京市", "北京", "小明", "小红", "没有"]
GOLD = [spans for _, spans in TEXTS]


@pytest.fixture
def vocab(tmp_path):
    path = tmp_path / "vocab.txt"
    characters = sorted({character for text, _ in TEXTS for character in text})
    path.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, ""]), "utf8")
    return path


@pytest.fixture
def checkpoint(tmp_path, vocab):
    logging.getLogger("transformers").setLevel(logging.ERROR)
    path = tmp_path / "checkpoint"
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=40, **sizes)).save_pretrained(path)
    (path / "vocab.txt").write_bytes(vocab.read_bytes())
    return path


def make_nlp(**changes):
    config = Config().from_str(CONFIG)
    config["components"]["transformer"]["model"].update(changes)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    rng = np.random.default_rng(0)
    entries = [LexiconEntry(word, rng.normal(size=8).astype("f4")) for word in WORDS]
    nlp.get_pipe("lex_matcher").add_words(entries)
    return nlp


def make_examples(nlp):
    tags = [["A" if i % 2 else "B" for i in range(len(text))] for text, _ in TEXTS]
    annotations = [{"entities": spans, "tags": tags} for (_, spans), tags in zip(TEXTS, tags)]
    return [Example.from_dict(nlp.make_doc(text), annotation) for (text, _), annotation in zip(TEXTS, annotations)]


def train(nlp, examples, n_steps=60):
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(n_steps):
        nlp.update(examples, sgd=False, drop=0.0)
        for _, pipe in nlp.pipeline:
            if hasattr(pipe, "finish_update"):
                pipe.finish_update(optimizer)


def entities(nlp):
    docs = nlp.pipe(text for text, _ in TEXTS)
    return [[(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents] for doc in docs]


def nodes(nlp, pipe):
    return [node.name for node in nlp.get_pipe(pipe).model.walk()]


def test_train_save_load_replace(tmp_path, vocab):
    nlp = make_nlp(vocab=str(vocab))
    train(nlp, make_examples(nlp))
    assert entities(nlp) == GOLD
    nlp.to_disk(tmp_path / "nlp")
    vocab.unlink()
    loaded = spacy.load(tmp_path / "nlp")
    assert entities(loaded) == GOLD
    assert loaded("小明")._.trf_data.model_output.last_hidden_state.shape == (1, 2, 32)

    loaded.replace_listeners("transformer", "ner", ["model.tok2vec"])
    assert "lebert" in nodes(loaded, "ner") and "lexicon" in nodes(loaded, "ner")
    assert "transformer-listener" not in nodes(loaded, "ner")
    section = loaded.config["components"]["ner"]["model"]["tok2vec"]
    assert section["@architectures"] == "spacy-lexner.Tok2VecLEBERTTransformer.v1"
    assert section["transformer"]["@architectures"] == "spacy-lexner.LEBERTTransformer.v1"
    assert entities(loaded) == GOLD
    loaded.to_disk(tmp_path / "replaced")
    replaced = spacy.load(tmp_path / "replaced")
    assert entities(replaced) == GOLD
    encoder = replaced.get_pipe("ner").model.get_ref("tok2vec")
    before = encoder.predict([replaced.make_doc("小明住在南京市")])[0]
    replaced.get_pipe("lex_matcher").remove_words(WORDS)
    after = encoder.predict([replaced.make_doc("小明住在南京市")])[0]
    assert moved(before, after, n_terms=32).any()  # the longest sum
    replaced.update(make_examples(replaced), sgd=replaced.resume_training())


def test_sourced_with_replaced_listeners(tmp_path, vocab):
    nlp = make_nlp(vocab=str(vocab))
    train(nlp, make_examples(nlp), 40)
    expected = entities(nlp)
    nlp.to_disk(tmp_path / "nlp")
    config = {
        "nlp": {"lang": "zh", "pipeline": ["lex_matcher", "ner"]},
        "components": {
            "lex_matcher": {"source": str(tmp_path / "nlp")},
            "ner": {"source": str(tmp_path / "nlp"), "replace_listeners": ["model.tok2vec"]},
        },
    }
    target = spacy.util.load_model_from_config(Config(config), auto_fill=True)
    assert "transformer" not in target.pipe_names
    assert entities(target) == expected


def test_a_checkpoint(checkpoint, tmp_path):
    nlp = make_nlp(name=str(checkpoint))
    train(nlp, make_examples(nlp), 2)
    expected = entities(nlp)
    nlp.to_disk(tmp_path / "nlp")
    checkpoint.rename(tmp_path / "moved")
    assert entities(spacy.load(tmp_path / "nlp")) == expected


def test_a_vocabulary_of_one_word_is_warned_of():
    nlp = make_nlp()
    with pytest.warns(UserWarning, match="saw only a sample of 1"):
        nlp.initialize(lambda: make_examples(nlp))


def test_empty_docs_pass(vocab):
    nlp = make_nlp(vocab=str(vocab))
    examples = [*make_examples(nlp), Example.from_dict(nlp.make_doc(""), {"entities": []})]
    train(nlp, examples, 2)
    assert [len(doc) for doc in nlp.pipe(["", "小明", " ", ""])] == [0, 2, 1, 0]


def test_settings_of_the_other_model_that_would_be_lost_are_refused():
    with pytest.raises(ValueError, match=r"does not support the settings do_lower_case, output_attentions of"):
        make_nlp(tokenizer_config={"do_lower_case": True}, transformer_config={"output_attentions": True})
    with pytest.raises(ConfigValidationError, match="max_word"):
        make_nlp(max_word=3)


def test_the_listener_protocol_without_matcher():
    config = Config().from_str(CONFIG)
    config["nlp"]["pipeline"].remove("lex_matcher")
    config["components"].pop("lex_matcher")
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    with pytest.raises(ValueError, match="Add a `lex_matcher` to the pipeline"):
        nlp.initialize(lambda: make_examples(nlp))
