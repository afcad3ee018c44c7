"""What a LEBERT is set up from: sizes, a checkpoint, a vocab.txt, the training texts."""

import logging
import warnings

import numpy as np
import pytest
import spacy
import torch
from transformers import BertConfig, BertModel, ElectraConfig, ElectraModel
from vector_text import write_vectors

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.encoders.shared.wordpieces import load_wordpieces
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

NLP = spacy.blank("zh")
DOCS = [NLP.make_doc("南京市长江大桥"), NLP.make_doc("ABC")]
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"南京市长江大桥abc"]
SIZES = {"vocab_size": 20, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("transformers").setLevel(logging.ERROR)


@pytest.fixture
def vocab(tmp_path):
    path = tmp_path / "vocab" / "vocab.txt"
    path.parent.mkdir()
    path.write_text("\n".join(VOCAB) + "\n", "utf8")
    return path


@pytest.fixture
def checkpoint(tmp_path, vocab):
    path = tmp_path / "checkpoint"
    torch.manual_seed(0)
    BertModel(BertConfig(**SIZES, hidden_dropout_prob=0.5, max_position_embeddings=40)).save_pretrained(path)
    (path / "vocab.txt").write_bytes(vocab.read_bytes())
    return path


def make_model(**setup):
    model = build_lebert_v1(**setup)
    lexicon = Lexicon.from_entries([LexiconEntry("南京", np.ones(4, "f4")), LexiconEntry("大桥", np.zeros(4, "f4"))])
    for node in model.layers:
        node.attrs["link"].source = SharedMatcher(Matcher(lexicon))
    return model


def initialize(show=True, **setup):
    model = make_model(**setup)
    if show:
        show_training_docs(model, DOCS)
    model.initialize(X=DOCS[:1])
    return model


def vocabulary(model):
    return load_wordpieces(model.shims[0].settings["wordpieces"]).tokenizer.get_vocab()


def test_constructing_reads_nothing():
    model = make_model(checkpoint="no/such/folder", vocab="no/such/file")
    assert model.has_dim("nO") is None and not model.shims[0].is_initialized


def test_embeddings_start_from_vectors_of_characters(tmp_path):
    path = write_vectors(tmp_path / "c.vec", {"南": [1, 0], "京": [1, 0.1], "市": [-1, 0], "火": [0, 1]})
    model = initialize(hidden_width=24, depth=1, heads=3, piece_vectors=path)
    table, rows = model.shims[0].module.encoder.get_input_embeddings().weight, vocabulary(model)
    near, far = (torch.cosine_similarity(table[rows["南"]], table[rows[other]], dim=0) for other in "京市")
    assert near > 0.8 > 0 > far


def test_random_weights_and_a_vocabulary_of_the_training_texts():
    model = initialize(hidden_width=24, depth=1, heads=3, intermediate_width=30, dropout=0.2)
    config = model.shims[0].module.encoder.config
    assert (config.hidden_size, config.num_hidden_layers, config.num_attention_heads) == (24, 1, 3)
    assert (config.intermediate_size, config.max_position_embeddings, config.hidden_dropout_prob) == (30, 512, 0.2)
    assert set(vocabulary(model)) == set(VOCAB) and config.vocab_size == len(VOCAB)
    assert model.predict(DOCS)[0].shape == (7, 24)


def test_min_count_and_case():
    model = initialize(vocab_min_count=2, lower_case=False)
    assert set(vocabulary(model)) == set(VOCAB[:5])
    assert "A" in vocabulary(initialize(lower_case=False))


def test_a_mere_sample_is_warned_of():
    with pytest.warns(UserWarning, match=r"(?s)saw only a sample of 1;.*vocab = .*spacy-lexner\.collect_texts\.v1"):
        initialize(show=False)


def test_a_sample_will_do_where_nothing_is_made_of_it(vocab):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = initialize(show=False, vocab=str(vocab))
    assert set(vocabulary(model)) == set(VOCAB)


def test_fine_tuned_words_want_all_texts_too(vocab):
    with pytest.warns(UserWarning, match="table of fine-tuned words"):
        initialize(show=False, vocab=str(vocab), words="finetuned")
    assert len(initialize(vocab=str(vocab), words="finetuned").shims[0].module.words.tuned) == 2
    assert len(initialize(vocab=str(vocab), words="frozen").shims[0].module.words.tuned) == 0


def test_a_checkpoint(checkpoint):
    model = initialize(checkpoint=str(checkpoint), adapter_layers=(0, 2))
    module = model.shims[0].module
    assert model.get_dim("nO") == 24 and sorted(module.adapters) == ["0", "2"]
    assert module.encoder.config.hidden_dropout_prob == 0.1  # that of the setup
    expected = BertModel.from_pretrained(checkpoint).state_dict()
    for name, tensor in module.encoder.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert vocabulary(model)["南"] == VOCAB.index("南")
    assert model.predict(DOCS)[1].shape == (3, 24)


def test_a_checkpoint_is_not_needed_again(checkpoint):
    model = initialize(checkpoint=str(checkpoint))
    saved, expected = model.to_bytes(), model.predict(DOCS)[0]
    assert str(checkpoint) not in str(model.shims[0].settings)
    checkpoint.rename(checkpoint.parent / "moved")
    loaded = make_model(checkpoint=str(checkpoint)).from_bytes(saved)
    np.testing.assert_array_equal(loaded.predict(DOCS)[0], expected)


def test_the_text_of_a_separator_is_no_separator(checkpoint):
    wordpieces = load_wordpieces(initialize(checkpoint=str(checkpoint)).shims[0].settings["wordpieces"])
    assert wordpieces.pieces("[SEP]") == [1, 1, 1]
    assert wordpieces.pieces("南京") == [VOCAB.index("南"), VOCAB.index("京")]


def test_the_checkpoint_says_whether_case_matters(checkpoint):
    (checkpoint / "tokenizer_config.json").write_text('{"do_lower_case": false}', "utf8")
    wordpieces = load_wordpieces(initialize(checkpoint=str(checkpoint)).shims[0].settings["wordpieces"])
    assert wordpieces.pieces("A") == [1] and wordpieces.pieces("a") == [VOCAB.index("a")]


def test_another_kind_of_checkpoint_with_a_vocabulary_of_its_own(tmp_path, vocab):
    config = ElectraConfig(**SIZES, embedding_size=16, max_position_embeddings=40)
    ElectraModel(config).save_pretrained(tmp_path / "electra")
    model = initialize(checkpoint=str(tmp_path / "electra"), vocab=str(vocab))
    assert model.predict(DOCS)[0].shape == (7, 24)


def test_a_checkpoint_without_tokenizer(checkpoint):
    (checkpoint / "vocab.txt").unlink()
    with pytest.raises(ValueError, match=r"checkpoint .* has no tokenizer: neither vocab\.txt nor"):
        initialize(checkpoint=str(checkpoint))


def test_a_checkpoint_without_weights(checkpoint):
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"weights of the checkpoint .* cannot be loaded.*model\.safetensors"):
        initialize(checkpoint=str(checkpoint))


def test_a_vocabulary_larger_than_the_checkpoint(checkpoint, vocab):
    vocab.write_text("\n".join([*VOCAB, *"甲乙丙丁戊己"]), "utf8")
    with pytest.raises(ValueError, match=r"vocabulary has 21 pieces, but the checkpoint .* knows 20"):
        initialize(checkpoint=str(checkpoint), vocab=str(vocab))


def test_adapters_beyond_the_layers_of_a_checkpoint(checkpoint):
    with pytest.raises(ValueError, match=r"adapter_layers = \[3\] does not fit an encoder of 3 layers"):
        initialize(checkpoint=str(checkpoint), adapter_layers=(3,))


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({"adapter_layers": (2,)}, r"adapter_layers = \[2\] does not fit an encoder of 2 layers"),
        ({"adapter_layers": "0"}, r"adapter_layers\s+got \('0',\), expected a list of int"),
        ({"hidden_width": 10, "heads": 4}, "hidden_width = 10 is not a multiple of heads = 4"),
        ({"words": "learned"}, r"words\s+got 'learned', expected one of 'frozen', 'finetuned'"),
        ({"empty": "none"}, r"empty\s+got 'none', expected one of 'zero', 'pad'"),
        ({"word_width": 0}, r"word_width\s+got 0, expected int of at least 1"),
        ({"hidden_width": 0}, r"hidden_width\s+got 0, expected int of at least 1"),
        ({"heads": 0}, r"heads\s+got 0, expected int of at least 1"),
        ({"heads": -1}, r"heads\s+got -1, expected int of at least 1"),
        ({"depth": 0, "adapter_layers": ()}, r"depth\s+got 0, expected int of at least 1"),
        ({"intermediate_width": 0}, r"intermediate_width\s+got 0, expected int of at least 1"),
        ({"vocab_min_count": 0}, r"vocab_min_count\s+got 0, expected int of at least 1"),
        ({"dropout": 1.5}, r"LEBERT -> dropout\s+got 1.5, expected float from 0 to 1"),
        ({"attention_dropout": -0.1}, r"attention_dropout\s+got -0.1, expected float from 0 to 1"),
    ],
)
def test_impossible_setups(setup, message):
    with pytest.raises(ValueError, match=message):
        build_lebert_v1(**setup)
