"""What all pretraining objectives of `spacy pretrain` share: from the encoder's vectors to one loss and back."""

import contextlib
from random import Random
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from torch import Tensor

from ..encoders.shared.bert_shaped import config_settings
from ..encoders.shared.shim import ModuleShim, shim_of
from .heads.heads import HeadLosses, build_pretraining_heads
from .log import PretrainingLog
from .state import PretrainingState, ResumableEncoder


class PretrainingBatch(NamedTuple):
    """A batch as the encoder's module reads it, and what the heads compare its output with.

    inputs (Any): The argument of the encoder's module, which gives N vectors.
    roles (Ints[N]): What each of them is for: MASKED, FIRST or MENTION.
    labels (Ints[n]): The wordpieces that were masked.
    next_labels (Ints[p]): Of pairs of segments: 0 next, 1 random.
    candidates (Optional[Floats[c, D]]): Vectors of the distinct entities, after a row of zeros.
    entity_labels (Ints[m]): Rows of `candidates`.
    """

    inputs: Any
    roles: np.ndarray
    labels: np.ndarray
    next_labels: np.ndarray = np.zeros(0, "i8")
    candidates: Optional[Tensor] = None
    entity_labels: np.ndarray = np.zeros(0, "i8")


class PretrainingTask:
    """What is particular to one objective."""

    name: str
    rng: Random

    def check(self, node: Model) -> None:
        """Refuse an encoder that the task cannot be done with.

        node (Model): The encoder's layer, initialised. Raises ValueError.
        """
        raise NotImplementedError

    def head_settings(self, module: Any) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The arguments of PretrainingHeads, besides the config."""
        raise NotImplementedError

    def text_model(self, module: Any) -> Any:
        """RETURNS (PreTrainedModel): The BERT-shaped model inside the encoder's module."""
        raise NotImplementedError

    def prepare(self, node: Model, docs: Sequence[Doc]) -> PretrainingBatch:
        """Mask a batch.

        node (Model): The encoder's layer.
        docs (Sequence[Doc]): The Docs.
        RETURNS (PretrainingBatch): The batch.
        """
        raise NotImplementedError


class PretrainingObjective(Model):
    """The model that `spacy pretrain` trains: an encoder and the heads of a task."""

    def __init__(
        self, encoder: Model, node: Model, task: PretrainingTask, log: PretrainingLog, *, resumable: bool = True
    ) -> None:
        """Put the heads on an encoder.

        encoder (Model[List[Doc], List[Floats2d]]): What is pretrained and saved.
        node (Model): The layer in it whose shim holds the torch module.
        task (PretrainingTask): The task.
        log (PretrainingLog): Where losses are shown.
        resumable (bool): Save the state of the run together with the encoder.
        """
        encoder_shim = cast(ModuleShim, node.shims[0])
        heads: Model = Model(
            "pretraining_heads",
            _no_forward,
            shims=[ModuleShim(build_pretraining_heads, mixed_precision=encoder_shim._mixed_precision)],
        )
        state = PretrainingState(task.rng)
        saved = ResumableEncoder(encoder, state) if resumable else encoder
        super().__init__(
            task.name,
            forward,
            init=init,
            layers=[saved, heads],
            shims=[state],
            refs={"tok2vec": saved, "node": node, "heads": heads},
            attrs={"loss": PretrainingLoss(state, log), "task": task},
        )
        state.bind(self, heads)

    @contextlib.contextmanager
    def use_params(self, params: Any) -> Iterator[None]:
        """As thinc's, for an optimiser that keeps no averages too."""
        with super().use_params(params or {}):
            yield


class PretrainingLoss:
    """The function that `spacy pretrain` calls with the model's output."""

    def __init__(self, state: PretrainingState, log: PretrainingLog) -> None:
        self.state = state
        self.log = log

    def __call__(self, ops: Any, docs: Sequence[Doc], losses: Optional[HeadLosses]) -> Tuple[float, float]:
        """Report the loss of a batch.

        ops (Ops): Not used.
        docs (Sequence[Doc]): The Docs.
        losses (Optional[HeadLosses]): The output; None for a batch with nothing in it to predict.
        RETURNS (Tuple[float, float]): The loss, and its gradient.
        """
        if losses is None:
            return 0.0, 0.0
        self.log.update(self.state.n_updates + 1, losses, sum(map(len, docs)))
        return float(losses.total.detach()), 1.0


def init(model: Model, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    model.layers[0].initialize(X)
    task: PretrainingTask = model.attrs["task"]
    node = model.get_ref("node")
    task.check(node)
    module = shim_of(node).module
    heads = shim_of(model.get_ref("heads"))
    if not heads.is_initialized:
        config = task.text_model(module).config
        heads.initialize({"encoder": config_settings(config), "heads": task.head_settings(module)})


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[Optional[HeadLosses], Callable]:
    """Encode a masked batch and ask the heads. The wordpiece embeddings are the decoder as well: they reach the heads
    as a leaf of their own, whose gradient is added in the end, so that either shim may scale its own gradients."""
    node, task = model.get_ref("node"), model.attrs["task"]
    encoder, heads = shim_of(node), shim_of(model.get_ref("heads"))
    batch = task.prepare(node, docs)
    if not len(batch.roles):
        return None, lambda gradient: []
    output, backprop_encoder = encoder.begin_update(ArgsKwargs(args=(batch.inputs,), kwargs={}))
    embeddings = task.text_model(encoder.module).get_input_embeddings().weight
    leaves = output.detach().requires_grad_(), embeddings.detach().requires_grad_()
    losses, backprop_heads = heads.begin_update(_head_inputs(batch, *leaves))

    def backprop(gradient: float) -> List[Doc]:
        total = losses.total
        backprop_heads(ArgsKwargs(args=((total,),), kwargs={"grad_tensors": (torch.full_like(total, gradient),)}))
        d_output, d_embeddings = (leaf.grad for leaf in leaves)
        backprop_encoder(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        embeddings.grad = d_embeddings if embeddings.grad is None else embeddings.grad.add_(d_embeddings)
        return []

    return losses, backprop


def _head_inputs(batch: PretrainingBatch, output: Tensor, embeddings: Tensor) -> ArgsKwargs:
    """The leaves are arguments by name, so that the shim sees that they want gradients."""
    roles = torch.from_numpy(batch.roles).to(output.device)
    labels, next_labels, entity_labels = (
        torch.from_numpy(array).to(output.device) for array in (batch.labels, batch.next_labels, batch.entity_labels)
    )
    kwargs = {
        "output": output,
        "embeddings": embeddings,
        "roles": roles,
        "labels": labels,
        "next_labels": next_labels,
        "candidates": batch.candidates,
        "entity_labels": entity_labels,
    }
    return ArgsKwargs(args=(), kwargs=kwargs)


def join(parts: Sequence[np.ndarray]) -> np.ndarray:
    """RETURNS (Ints[n]): Arrays of integers, none of them too, as one."""
    return np.concatenate([np.zeros(0, "i8"), *parts])


def _no_forward(model: Model, X: Any, is_train: bool) -> Any:
    raise NotImplementedError("The heads of a pretraining objective are run by the objective.")
