"""Every encoder learns the same in half precision as in full precision, up to rounding."""

import numpy as np
import pytest
import spacy
import torch
from spacy.training import Example
from spacy.util import fix_random_seed
from tolerance import near

from spacy_lexner.encoders.shared import shim
from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.lexicon.entry import LexiconEntry

TEXTS = [
    ("小明住在南京市", [(0, 2, "PER"), (4, 7, "LOC")]),
    ("南京市长江大桥很长", [(0, 3, "LOC"), (3, 7, "LOC")]),
    ("小红去北京了", [(0, 2, "PER"), (3, 5, "LOC")]),
    ("今天没有事", []),
]
WORDS = ["南京", "南京市", "市长", "长江大桥", "大桥", "北京", "小明", "小红"]

BERT = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "dropout": 0.0, "attention_dropout": 0.0}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **BERT}
DROPOUTS = {
    "embedding": {"token_dropout": 0.0, "character_dropout": 0.0, "word_dropout": 0.0},
    "sublayers": {"inner_dropout": 0.0, "output_dropout": 0.0},
}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 32, "heads": 4, **DROPOUTS}
ELMO = {"@architectures": "spacy-lexner.ELMo.v1", "projection_dim": 16, "cell_dim": 32, "embedding_dim": 8}
ELMO |= {"filters": [[1, 16], [2, 16]], "dropout": 0.0, "lstm_dropout": 0.0}
ENCODERS = {
    "lebert": LEBERT,
    "flat": FLAT,
    "flat-attn": {**FLAT, "positions": {"fusion": "attn"}},
    "flat-lebert": {**FLAT, "contextual": LEBERT},
    "ernie": {"@architectures": "spacy-lexner.ERNIE.v1", **BERT},
    "elmo": ELMO,
    "elmo-clipped": {**ELMO, "cell_clip": 3.0, "projection_clip": 3.0},
    "soft-lexicon": {"@architectures": "spacy-lexner.SoftLexicon.v1", "width": 32, "dropout": 0.0},
    "soft-lexicon-cnn": {
        "@architectures": "spacy-lexner.SoftLexicon.v1",
        "width": 32,
        "network": "cnn",
        "dropout": 0.0,
    },
    "word-bilstm": {
        "@architectures": "spacy-lexner.WordBiLSTM.v1",
        "hidden_width": 16,
        "dropout": 0.0,
        "tok2vec": LEBERT,
    },
}


def with_precision(options, mixed):
    """The same options, for the encoder and those inside it."""
    inside = {k: with_precision(v, mixed) if isinstance(v, dict) else v for k, v in options.items()}
    return {**inside, "mixed_precision": mixed} if "@architectures" in options else inside


def make_pipeline(options, mixed):
    fix_random_seed(0)
    nlp = spacy.blank("zh")
    matcher = nlp.add_pipe("lex_matcher")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8)).astype("f4")
    matcher.add_words([LexiconEntry(word, row, entity_id=word) for word, row in zip(WORDS, vectors)])
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": with_precision(options, mixed)}
    nlp.add_pipe("lex_ner", config={"model": model})
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS]
    optimizer = nlp.initialize(lambda: examples)
    return nlp, examples, optimizer


def found(nlp):
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in nlp.pipe(text for text, _ in TEXTS)]


def gradients(nlp, examples):
    """Gradients of all torch modules, one after the other, and the loss they come from."""
    losses = nlp.update(examples, sgd=False, drop=0.0)
    shims = [s for node in nlp.get_pipe("lex_ner").model.walk() for s in node.shims if isinstance(s, ModuleShim)]
    parts = [p.grad.to_dense().flatten() for s in shims for p in s.module.parameters() if p.grad is not None]
    return losses["lex_ner"], torch.cat(parts)


@pytest.fixture
def dtypes(monkeypatch):
    """Allows half precision on any processor, even if slow, and records each use."""
    noted = []

    def half_precision(device):
        noted.append(torch.bfloat16)
        return torch.bfloat16

    monkeypatch.setattr(shim, "half_precision", half_precision)
    return noted


@pytest.mark.parametrize("name", ENCODERS)
def test_learns_the_same(name, dtypes):
    (full_loss, full), (half_loss, half) = (
        gradients(*make_pipeline(ENCODERS[name], mixed)[:2]) for mixed in (False, True)
    )
    assert dtypes and full.dtype == half.dtype == torch.float32
    n_operations = 12  # two layers; queries, scores, their mean and its projection, two of the feed-forward part
    assert half_loss == near(full_loss, n_operations, dtype="bfloat16") and half_loss != full_loss
    assert torch.cosine_similarity(full, half, dim=0) > 0.99


@pytest.mark.parametrize("name", ENCODERS)
def test_trains_and_predicts(name, dtypes):
    nlp, examples, optimizer = make_pipeline(ENCODERS[name], True)
    optimizer.learn_rate = 0.005
    losses = [nlp.update(examples, sgd=optimizer, drop=0.0)["lex_ner"] for _ in range(15)]
    assert losses[-1] < 0.7 * losses[0]
    predicted = found(nlp)
    assert any(predicted)
    assert found(nlp.from_bytes(nlp.to_bytes())) == predicted
