"""What the `transformer` pipe and its listeners receive."""

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy_transformers.layers import split_trf_batch, trfs2arrays
from thinc.api import chain, reduce_mean
from tolerance import assert_all_close, assert_close

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.encoders.lebert.transformer import MAX_ROW, LEBERTTransformer
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

NLP = spacy.blank("zh")
N_TERMS = 512  # the longest sum: over the wordpieces of a row


def make_doc(*words):
    return Doc(NLP.vocab, words=list(words), spaces=[False] * len(words))


LONG = make_doc(*"南京市长江大桥" * 150)
WIDE = make_doc("京", "南-" * 700, "市")  # a token that runs over several rows
BATCHES = {
    "one": [make_doc(*"南京市")],
    "several": [make_doc(*"南京市"), make_doc("南京", "市"), make_doc(*"大桥")],
    "empty": [make_doc(), make_doc(*"南京市"), make_doc(), make_doc("大桥"), make_doc()],
    "long": [make_doc("南"), LONG, make_doc("南京")],
    "wide": [WIDE, make_doc("南京"), make_doc(*"大桥")],
}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 32}
    encoder = build_lebert_v1(**sizes, dropout=0.0, attention_dropout=0.0)
    lexicon = Lexicon.from_entries([LexiconEntry("南京"), LexiconEntry("大桥")])
    encoder.layers[0].attrs["link"].source = SharedMatcher(Matcher(lexicon))
    show_training_docs(encoder, [make_doc(*"南京市长江大桥-")])
    model = LEBERTTransformer(encoder)
    model.initialize(X=[])
    return model


def test_width(model):
    assert model.get_dim("nO") == 16


@pytest.mark.parametrize("docs", BATCHES.values(), ids=BATCHES.keys())
def test_the_mean_over_aligned_pieces_is_the_vector_of_the_encoder(model, docs):
    """Through spacy-transformers' own code: what a listener pools is what the encoder gives by itself."""
    listener = chain(model, chain(split_trf_batch(), trfs2arrays(reduce_mean(), 1.0)))
    expected = model.layers[0].predict(docs)
    for vectors, others in zip(listener.predict(docs), expected):
        assert vectors.shape[0] == others.shape[0]
        if len(vectors):
            assert_close(vectors, others, N_TERMS)


@pytest.mark.parametrize("docs", BATCHES.values(), ids=BATCHES.keys())
def test_gradients_arrive_as_if_there_were_no_rows(model, docs):
    module = model.layers[0].shims[0].module
    listener = chain(model, chain(split_trf_batch(), trfs2arrays(reduce_mean(), 1.0)))
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(len(doc), 16)).astype("f4") for doc in docs]
    found = []
    for encoder in (listener, model.layers[0]):
        _, backprop = encoder.begin_update(docs)
        backprop([array.copy() for array in weights])
        found.append({name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None})
        module.zero_grad(set_to_none=True)
    assert_all_close(*found, 2 * N_TERMS)  # forward and backward


@pytest.mark.parametrize("docs", BATCHES.values(), ids=BATCHES.keys())
def test_doc_data(model, docs):
    batch = model.predict(docs)
    assert len(batch.doc_data) == len(docs)
    for doc, data in zip(docs, batch.doc_data):
        if not len(doc):
            assert "last_hidden_state" not in data.model_output
            continue
        n_pieces = int(data.align.lengths.sum())
        assert len(data.align.lengths) == len(doc) and sum(data.wordpieces.lengths) == n_pieces
        hidden = data.model_output.last_hidden_state
        assert hidden.shape == (len(data.wordpieces), data.wordpieces.input_ids.shape[1], 16)
        assert hidden.shape[1] <= MAX_ROW and hidden.shape[0] == -(-n_pieces // hidden.shape[1])
        assert int(data.wordpieces.attention_mask.sum()) == n_pieces
        assert np.isfinite(hidden).all()
        strings = [piece for row in data.wordpieces.strings for piece in row]
        flat = [strings[i] for i in range(n_pieces)]
        assert flat[: len(doc[0])] == [model_piece(model, piece) for piece in pieces_of(model, doc[0].text)]
        if doc is not WIDE:
            assert "".join(flat) == doc.text
    assert all(span.doc is doc for doc, spans in zip(docs, batch.spans) for span in spans)


def pieces_of(model, text):
    from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of

    return wordpieces_of(model.layers[0]).pieces(text)


def model_piece(model, piece):
    from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of

    return wordpieces_of(model.layers[0]).tokenizer.id_to_token(piece)


def test_no_tokens_at_all(model):
    batch, backprop = model.begin_update([make_doc(), make_doc()])
    assert len(batch.doc_data) == 2 and backprop(batch) is not None
