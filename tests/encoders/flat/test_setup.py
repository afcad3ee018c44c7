import json
from dataclasses import replace

import numpy as np
import pytest
import spacy
import torch
from tolerance import assert_close, near
from vector_text import write_vectors

from spacy_lexner.candidates.training_texts import TrainingTexts
from spacy_lexner.encoders.flat.architecture import build_flat_v1
from spacy_lexner.encoders.flat.model import build_flat
from spacy_lexner.encoders.flat.options import Embedding, Positions
from spacy_lexner.encoders.flat.setup import FlatSetup
from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.encoders.shared.vocab import load_vocab
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher

NLP = spacy.blank("zh")
TEXTS = ["南京市长江", "长江大桥"]


def matcher_of(words, width=3):
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=width).astype("f4") if width else None for _ in words]
    return Matcher(Lexicon.from_entries(map(LexiconEntry, words, vectors)))


def build(matcher=None, contextual_width=0, sample=TEXTS, embedding=None, **setup):
    torch.manual_seed(0)
    shim = ModuleShim(build_flat)
    texts = TrainingTexts(tokens=False, texts=True)
    texts.add([NLP.make_doc(text) for text in sample])
    setup = FlatSetup(**{"width": 8, "heads": 2, "words": "none" if matcher is None else "finetuned", **setup})
    setup = replace(setup, embedding=Embedding(**(embedding or {})))
    return setup.build(shim, [], texts, matcher, contextual_width), shim.settings


def vector(table, vocab, kind, key):
    (row,) = vocab.rows(kind, [key]).tolist()
    assert row >= 2
    return table(torch.tensor([row]))[0].detach().numpy()


def test_vectors_of_files(tmp_path):
    characters = write_vectors(tmp_path / "c.vec.gz", {"南": [3, 4], "火": [0, 2], "火车": [1, 1]})
    bigrams = write_vectors(
        tmp_path / "b.vec", {"南京": [1, 0, 0], "江<end>": [0, 2, 0], "火车": [0, 0, 5], "车": [1, 1, 1]}
    )
    files = {"character_vectors": characters, "bigram_vectors": bigrams}
    module, settings = build(embedding=files)
    vocab, embedding = load_vocab(settings["vocab"]), module.embedding
    assert (embedding.characters.embedding_dim, embedding.bigrams.embedding_dim) == (2, 3)
    n_terms = 3  # of a length
    assert_close(vector(embedding.characters, vocab, "characters", "南"), [0.6, 0.8], n_terms)
    assert_close(vector(embedding.characters, vocab, "characters", "火"), [0, 1], n_terms)
    assert_close(vector(embedding.bigrams, vocab, "bigrams", "江\U0010ffff"), [0, 1, 0], n_terms)
    assert_close(vector(embedding.bigrams, vocab, "bigrams", "火车"), [0, 0, 1], n_terms)
    assert (vocab.n_fixed_characters, vocab.n_fixed_bigrams) == (1, 1)
    assert np.linalg.norm(vector(embedding.characters, vocab, "characters", "京")) == near(1.0, n_terms)

    lean, settings = build(embedding={**files, "keep_vectors": False, "normalize": False})
    vocab = load_vocab(settings["vocab"])
    assert (vocab.n_fixed_characters, vocab.n_fixed_bigrams) == (0, 0)
    np.testing.assert_array_equal(vector(lean.embedding.characters, vocab, "characters", "南"), [3, 4])


def test_words():
    matcher = matcher_of(["南京", "长江", "北京"])
    module, settings = build(matcher)
    words = module.embedding.words
    assert (len(words.tuned), words.width, settings["lexicon_width"]) == (2, 3, 3)
    vectors, _ = matcher.lexicon.vectors(words.tuned_hashes.numpy().view("u8"))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert_close(words.tuned, vectors / lengths, n_terms=3)
    plain = build(matcher, embedding={"normalize": False})[0].embedding.words
    np.testing.assert_array_equal(plain.tuned.detach().numpy(), vectors)
    assert len(build(matcher, words="frozen")[0].embedding.words.tuned) == 0
    bare, settings = build(matcher_of(["南京"], width=0), embedding={"vector_width": 7})
    assert (bare.embedding.words.width, settings["lexicon_width"]) == (7, 0)
    assert build()[0].embedding.words is None


def test_settings_are_plain_and_enough():
    module, settings = build(
        matcher_of(["南京"]), contextual_width=5, positions=Positions(absolute="concat"), embedding={"numbers": "all"}
    )
    again = build_flat(json.loads(json.dumps(settings)))
    assert {name: p.shape for name, p in again.state_dict().items()} == {
        name: p.shape for name, p in module.state_dict().items()
    }


def test_without_bigrams():
    module, settings = build(embedding={"bigrams": False})
    assert module.embedding.bigrams is None
    assert settings["vocab"]["bigrams"] is None


def test_a_sample_is_used_with_a_warning():
    setup = FlatSetup(words="none")
    with pytest.warns(UserWarning, match=r"(?s)sample of 1;.*collect_texts\.v1"):
        module = setup.build(
            ModuleShim(build_flat), [NLP.make_doc("南京")], TrainingTexts(tokens=False, texts=True), None, 0
        )
    assert len(module.embedding.characters.weight) == 4


@pytest.mark.parametrize(
    "options,message",
    [
        ({"words": "tuned"}, r"words\s+got 'tuned', expected one of 'finetuned'"),
        ({"width": 0}, r"width\s+got 0, expected int of at least 1"),
        ({"heads": 7}, r"\(128\).*multiple.*\(7\)"),
        ({"layers": 0}, r"layers\s+got 0, expected int of at least 1"),
        ({"width": 3, "heads": 1}, "at least 4"),
    ],
)
def test_impossible_options_show_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        FlatSetup(**options)


@pytest.mark.parametrize(
    ("block", "option", "value"),
    [
        ("embedding", "token_dropout", 1.5),
        ("embedding", "character_dropout", -0.1),
        ("embedding", "word_dropout", 2),
        ("attention", "dropout", 1.5),
        ("sublayers", "dropout", 1.5),
        ("sublayers", "inner_dropout", 1.5),
        ("sublayers", "inner_output_dropout", -1),
        ("sublayers", "output_dropout", 7),
        ("sublayers", "inner_width", 0),
    ],
)
def test_options_out_of_range_are_named(block, option, value):
    with pytest.raises(ValueError, match=rf"{block} -> {option}\s+got {value}, expected"):
        build_flat_v1(**{block: {option: value}})
