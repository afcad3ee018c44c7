"""Every module makes its tensors where its weights are, whatever that device is."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
import torch
from fake_device import DEVICE, fake_like, run_on_device
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import require_gpu, to_numpy, use_ops
from tolerance import assert_close
from torch import nn
from torch._subclasses import fake_tensor
from transformers import BertConfig

from spacy_lexner.encoders.elmo import model as elmo_model
from spacy_lexner.encoders.ernie.model import ERNIEBatch
from spacy_lexner.encoders.flat import model as flat_model
from spacy_lexner.encoders.flat import positions
from spacy_lexner.encoders.flat.distinct_positions import Chunk, DistinctPositions, Section
from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.encoders.word_bilstm import model as word_model
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.pretraining import softmax
from spacy_lexner.pretraining.heads import PretrainingHeads
from spacy_lexner.tagging import crf
from spacy_lexner.tagging.heads import CRFHead, SoftmaxHead
from spacy_lexner.tagging.spans.states import tag_states
from spacy_lexner.tagging.tag_search import make_trellis

WORDS = ["南京", "南京市", "长江", "长江大桥"]
TEXTS = ["南京市长江大桥很长", "南京"]
BERT = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1", "width": 16, "heads": 2}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **BERT}
ELMO = {"@architectures": "spacy-lexner.ELMo.v1", "embedding_dim": 6, "filters": [[1, 4], [2, 4]], "freeze": False}
N_TERMS = 4 * 64  # layers, and their longest sum
GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")]
DEVICES = ["cpu", pytest.param("gpu", marks=GPU)]
ENCODERS = {
    "flat": FLAT,
    "flat-gate": {**FLAT, "positions": {"fusion": "gate", "absolute": "nonlinear_add", "learned": True}},
    "flat-scalar": {**FLAT, "positions": {"kind": "scalar"}},
    "lebert": LEBERT,
    "ernie": {"@architectures": "spacy-lexner.ERNIE.v1", **BERT, "entity_heads": 2},
    "elmo": {**ELMO, "projection_dim": 6, "cell_dim": 8},
    "elmo-clipped": {**ELMO, "projection_dim": 6, "cell_dim": 8, "cell_clip": 3.0},
    "word-bilstm": {"@architectures": "spacy-lexner.WordBiLSTM.v1", "hidden_width": 8, "tok2vec": LEBERT},
}


class Caught(Exception):
    pass


def make_encoder(options):
    nlp = spacy.blank("zh")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8)).astype("f4")
    nlp.add_pipe("lex_matcher").add_words([LexiconEntry(w, row, entity_id=w) for w, row in zip(WORDS, vectors)])
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": options}
    nlp.add_pipe("lex_ner", config={"model": model})
    gold = [Example.from_dict(nlp.make_doc(text), {"entities": [(0, 2, "LOC")]}) for text in TEXTS]
    nlp.initialize(lambda: gold)
    docs = [nlp.get_pipe("lex_matcher")(nlp.make_doc(text)) for text in TEXTS]
    return nlp, nlp.get_pipe("lex_ner").model.get_ref("tok2vec"), docs


def inputs_on(device, encoder, docs):
    """What an encoder's module gets from Docs if it is on another device."""
    shim, begin, caught = encoder.shims[0], ModuleShim.begin_update, []

    def catch(self, inputs):
        if self is not shim:  # of an encoder within it
            return begin(self, inputs)
        caught.extend(inputs.args)
        raise Caught

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModuleShim, "device", property(lambda self: device if self is shim else torch.device("cpu")))
        patch.setattr(ModuleShim, "begin_update", catch)
        with pytest.raises(Caught):
            encoder.begin_update(docs)
    if isinstance(caught[0], list) and isinstance(caught[0][0], ERNIEBatch):  # asks its weights
        [[batch]] = caught
        caught = [[batch._replace(vectors=batch.vectors.to(device), tuned=batch.tuned.to(device))]]
    return caught


def without_data(inputs, patch):
    """What modules work out from data, in advance: from `inputs`, which are those of `inputs_on` the CPU."""
    if isinstance(inputs[0], list) and isinstance(inputs[0][0], flat_model.FlatBatch):
        [batch] = inputs[0]
        starts = torch.arange(batch.characters.shape[1]).expand(len(batch.characters), -1)
        starts, ends = torch.cat((starts, batch.word_starts), 1), torch.cat((starts + 1, batch.word_ends), 1)
        mask = torch.cat((batch.characters != 0, batch.word_ids != 0), 1)
        made = DistinctPositions(starts, ends, mask, batch.characters.shape[1])

        def fake(tensor):
            return torch.empty(tensor.shape, dtype=tensor.dtype, device=DEVICE)

        def positions_on_device(*_):
            sections = [
                Section(fake(s.triples), [Chunk(*map(fake, chunk)) for chunk in s.chunks]) for s in made.sections
            ]
            counts = {"n_queries": made.n_queries, "n_keys": made.n_keys}
            return SimpleNamespace(shape=made.shape, sections=sections, **counts)

        patch.setattr(flat_model, "DistinctPositions", positions_on_device)
        patch.setattr(positions, "bounds", lambda distances: (-9, 9))
    elif len(inputs) == 3:  # ELMo's, with the lengths of sentences
        packing = elmo_model.pack(inputs[2])
        patch.setattr(elmo_model, "pack", lambda lengths: packing)
    every = torch.all  # transformers asks whether there is any padding
    patch.setattr(torch, "all", lambda mask, **options: every(mask, **options) if options else False)
    patch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # there is none for such a device
    patch.setattr(torch.Tensor, "nonzero", lambda _: ())  # and ELMo's CNN how long the words are
    patch.setattr(word_model, "pack_padded_sequence", lambda vectors, *_, **__: vectors)
    patch.setattr(word_model, "pad_packed_sequence", lambda vectors, *_, **__: (vectors, None))


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders(name, monkeypatch):
    _nlp, encoder, docs = make_encoder(ENCODERS[name])
    without_data(inputs_on(torch.device("cpu"), encoder, docs), monkeypatch)
    run_on_device(encoder.shims[0].module.train(), inputs_on(DEVICE, encoder, docs))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ENCODERS)
def test_a_saved_pipeline_on_a_device(name, device, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # in which LSTMs run by default
    nlp, encoder, docs = make_encoder(ENCODERS[name])
    expected, saved = encoder.predict(docs), nlp.to_bytes()
    with use_ops("cupy" if device == "gpu" else "numpy"):
        if device == "gpu":
            require_gpu()
        loaded = load_model_from_config(nlp.config).from_bytes(saved)
        matched = [loaded.get_pipe("lex_matcher")(loaded.make_doc(text)) for text in TEXTS]
        vectors = loaded.get_pipe("lex_ner").model.get_ref("tok2vec").predict(matched)
        for found, right in zip(vectors, expected):
            assert_close(to_numpy(found), right, N_TERMS)
        gold = [Example.from_dict(loaded.make_doc(text), {"entities": [(0, 2, "LOC")]}) for text in TEXTS]
        assert loaded.update(gold, sgd=loaded.resume_training())["lex_ner"] > 0
        assert [doc.text for doc in loaded.pipe(TEXTS)] == TEXTS


@pytest.mark.skipif(not hasattr(fake_tensor, "FakeTensorDeviceMismatchError"), reason="this torch has no error for it")
def test_a_missing_device_is_found(monkeypatch):
    """As if FLAT's positions forgot the `device` of their ranges."""
    _nlp, encoder, docs = make_encoder(FLAT)
    without_data(inputs_on(torch.device("cpu"), encoder, docs), monkeypatch)
    inputs, arange = inputs_on(DEVICE, encoder, docs), torch.arange
    monkeypatch.setattr(torch, "arange", lambda *args, device=None, **options: arange(*args, **options))
    with pytest.raises(fake_tensor.FakeTensorDeviceMismatchError, match="same device"):
        run_on_device(encoder.shims[0].module.train(), inputs)


class Loss(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head
        self.emissions, self.transitions = nn.Parameter(torch.zeros(9, 5)), nn.Parameter(torch.zeros(6, 6))

    def forward(self):
        allowed = [np.ones((n, 5), bool) for n in (4, 0, 5)]
        trellis = make_trellis(self.emissions, self.transitions, tag_states(5), allowed)
        return self.head.losses(trellis, trellis.allowed)


@pytest.fixture
def no_data(monkeypatch):
    """The recursions of the CRF run in NumPy. What they read has a shape only; what they return goes back."""

    def zeros(tensor):
        return np.zeros(tensor.shape, str(tensor.dtype).removeprefix("torch."))

    monkeypatch.setattr(crf, "numpy_of", zeros)


@pytest.mark.parametrize(
    "head", [CRFHead(), CRFHead(constrained_training=False), SoftmaxHead(label_smoothing=0.1, focal_gamma=1.0)]
)
def test_heads(head, no_data):
    run_on_device(Loss(head))


def test_a_missing_device_in_the_crf_is_found(no_data, monkeypatch):
    monkeypatch.setattr(crf, "tensor_of", lambda array, device=None: torch.from_numpy(array))
    with pytest.raises(RuntimeError, match=r"Mismatching .* device"):
        run_on_device(Loss(CRFHead()))


class Pretraining(nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
        self.heads = PretrainingHeads(config, next_sentence=True, entity_width=4)

    def forward(self, hidden, table, candidates):
        heads = self.heads
        scores = [heads.masked_lm(hidden, table), heads.next_sentence(hidden.unsqueeze(1))]
        return torch.stack([part.logsumexp(1).mean() for part in (*scores, heads.entity(hidden, candidates))])


def test_heads_of_pretraining():
    run_on_device(Pretraining(), [torch.empty(shape, device=DEVICE) for shape in ((5, 16), (20, 16), (3, 4))])


def test_the_softmax_of_language_models(monkeypatch):
    monkeypatch.setattr(softmax, "checkpoint", lambda compute, *inputs, use_reentrant: compute(*inputs))
    inputs = [torch.empty(7, 8, device=DEVICE), torch.empty(7, dtype=torch.int64, device=DEVICE)]
    run_on_device(softmax.FullSoftmax(8, 30), inputs)


def test_what_is_on_the_cpu_stays_there():
    assert fake_like([torch.zeros(2)])[0].device.type == "cpu"
