"""The model that `spacy pretrain` trains with PretrainBiLM.v1: an ELMo and its softmax over words."""

import contextlib
from random import Random
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model

from ..encoders.elmo.batches import BEGIN, END, ELMoBatch, make_batch
from ..encoders.elmo.layer import elmo_shim, get_character_ids, module_inputs, prepare
from ..encoders.elmo.model import ELMo
from ..encoders.shared.shim import ModuleShim
from . import word_vocabulary
from .bilm_log import BiLMLog
from .heads.bilm import BiLMLosses, build_bilm_head
from .state import PretrainingState, ResumableEncoder
from .word_vocabulary import WordVocabulary


class BiLMObjective(Model):
    """A language model: an encoder, and the softmax that either of its directions predicts words with."""

    def __init__(
        self,
        encoder: Model,
        node: Model,
        vocabulary: WordVocabulary,
        head: Dict[str, Any],
        log: BiLMLog,
        *,
        resumable: bool = True,
    ) -> None:
        """Put the softmax on an encoder.

        encoder (Model[List[Doc], List[Floats2d]]): What is pretrained and saved.
        node (Model): The ELMo layer in it.
        vocabulary (WordVocabulary): The words.
        head (Dict[str, Any]): Arguments of BiLMHead, without the sizes.
        log (BiLMLog): Where losses are shown.
        resumable (bool): Save the state of the run together with the encoder.
        """
        softmax: Model = Model(
            "bilm_head",
            _no_forward,
            shims=[ModuleShim(build_bilm_head, mixed_precision=elmo_shim(node)._mixed_precision)],
        )
        state = PretrainingState(Random(0))  # all chance in this objective is torch's
        saved = ResumableEncoder(encoder, state) if resumable else encoder
        super().__init__(
            "bilm_objective",
            forward,
            init=init,
            layers=[saved, softmax],
            shims=[state],
            refs={"tok2vec": saved, "node": node, "head": softmax},
            attrs={"loss": BiLMLoss(state, log), "vocabulary": vocabulary, "head": head},
        )
        state.bind(self, softmax)

    @contextlib.contextmanager
    def use_params(self, params: Any) -> Iterator[None]:
        """As thinc's, for an optimiser that keeps no averages too."""
        with super().use_params(params or {}):
            yield


class BiLMLoss:
    """The function that `spacy pretrain` calls with the model's output."""

    def __init__(self, state: PretrainingState, log: BiLMLog) -> None:
        self.state = state
        self.log = log

    @property
    def wants_exact(self) -> bool:
        """RETURNS (bool): Whether the next batch is to be computed by the full softmax as well."""
        return self.log.sampled and self.log.is_due(self.state.n_updates + 1)

    def __call__(self, ops: Any, docs: Sequence[Doc], losses: Optional[BiLMLosses]) -> Tuple[float, float]:
        """Report the loss of a batch.

        ops (Ops): Not used.
        docs (Sequence[Doc]): The Docs.
        losses (Optional[BiLMLosses]): The output; None for a batch without tokens.
        RETURNS (Tuple[float, float]): The loss, and its gradient.
        """
        if losses is None:
            return 0.0, 0.0
        self.log.update_language_model(self.state.n_updates + 1, losses, sum(map(len, docs)))
        return float(losses.total.detach()), 1.0


def init(model: Model, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    model.layers[0].initialize(X)
    head = cast(ModuleShim, model.get_ref("head").shims[0])
    if head.is_initialized:
        return
    elmo = cast(ELMo, elmo_shim(model.get_ref("node")).module)
    vocabulary, settings = model.attrs["vocabulary"], dict(model.attrs["head"])
    if settings["softmax"] == "adaptive":
        settings["cutoffs"] = [cutoff for cutoff in settings["cutoffs"] if cutoff < len(vocabulary)]
    sizes = {"width": elmo.bilm.projection_dim, "n_words": len(vocabulary), "vocabulary": vocabulary.fingerprint}
    head.initialize({**settings, **sizes})


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[Optional[BiLMLosses], Callable]:
    """Read a batch and predict its words. Encoder and head have a shim each, so the encoder's output reaches the head
    as
    a leaf whose gradient is then handed on."""
    batch = _batch(model, docs)
    if batch is None:
        return None, lambda gradient: []
    encoder, head = prepare(model.get_ref("node")), cast(ModuleShim, model.get_ref("head").shims[0])
    if not is_train:
        output = encoder.predict(module_inputs(batch, top_only=True))
        return head.predict(_head_inputs(model, batch, output, exact=True)), lambda gradient: []
    output, backprop_encoder = encoder.begin_update(module_inputs(batch, top_only=True))
    leaf = output.detach().requires_grad_()
    exact = model.attrs["loss"].wants_exact
    losses, backprop_head = head.begin_update(_head_inputs(model, batch, leaf, exact=exact))

    def backprop(gradient: float) -> List[Doc]:
        total = losses.total
        backprop_head(ArgsKwargs(args=((total,),), kwargs={"grad_tensors": (torch.full_like(total, gradient),)}))
        backprop_encoder(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (leaf.grad,)}))
        return []

    return losses, backprop


def _batch(model: Model, docs: Sequence[Doc]) -> Optional[ELMoBatch]:
    kept = [doc for doc in docs if len(doc)]
    if not kept:
        return None
    node = model.get_ref("node")
    return make_batch(kept, get_character_ids(node)).to(elmo_shim(node).device)


def _head_inputs(model: Model, batch: ELMoBatch, output: torch.Tensor, *, exact: bool) -> ArgsKwargs:
    vocabulary: WordVocabulary = model.attrs["vocabulary"]
    settings = cast(ModuleShim, model.get_ref("head").shims[0]).settings
    if settings is not None and settings["vocabulary"] != vocabulary.fingerprint:
        raise ValueError(
            f"This run was begun with other words than the {len(vocabulary)} of [pretraining.objective] words. Give "
            "the file, and max_words, that it was begun with."
        )
    special = np.array([word_vocabulary.BEGIN, word_vocabulary.END])
    numbers = torch.from_numpy(np.concatenate([special, vocabulary.numbers(batch.words)]))
    tensors = {"words": numbers[batch.rows], "begins": batch.rows == BEGIN, "ends": batch.rows == END}
    moved = {name: tensor.to(output.device) for name, tensor in tensors.items()}
    return ArgsKwargs(args=(), kwargs={"output": output, **moved, "exact": exact})


def _no_forward(model: Model, X: Any, is_train: bool) -> Any:
    raise NotImplementedError("The softmax of a language model is run by its objective.")
