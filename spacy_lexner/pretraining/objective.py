"""The base of all objectives for `spacy pretrain`: from the encoder's vectors to one loss and back."""

import contextlib
from pathlib import Path
from random import Random
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from spacy.language import Language
from spacy.schemas import ConfigSchemaPretrain
from spacy.tokens import Doc
from spacy.training.pretrain import create_pretraining_model
from spacy.util import load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import ArgsKwargs, Config, Model

from ..encoders.shared.shim import ModuleShim, shim_of
from ..tensors.convert import tensor_of
from .heads import Losses
from .log import PretrainingLog
from .resume import STATE_KEY, PretrainingState, ResumableEncoder


class PretrainingBatch(NamedTuple):
    """A batch as the encoder's module reads it, and the targets of the heads."""

    inputs: ArgsKwargs  # the arguments of the encoder's module
    targets: Dict[str, Any]  # the arguments of the heads, except for the module's output and the tied weight


class PretrainingTask:
    """The part of an objective that is specific to it."""

    name: str  # its registered name
    encoder: str  # the name of the layer to pretrain: "lebert", "ernie" or "elmo"
    architecture: str  # the registered name of that layer
    rng: Random  # its own random numbers, in addition to torch's
    build_heads: Callable[[Dict[str, Any]], torch.nn.Module]  # from settings

    def head_settings(self, node: Model) -> Dict[str, Any]:
        """The heads' settings for an initialised layer. Raises ValueError if the encoder is unsuitable for the task."""
        raise NotImplementedError

    def tied_weight(self, module: Any) -> Optional[torch.nn.Parameter]:
        """A weight of the encoder's module that the heads also use, as `embeddings`; None if there is none."""
        return None

    def prepare(self, node: Model, docs: Sequence[Doc], *, exact: bool = False) -> Optional[PretrainingBatch]:
        """Make a batch of Docs; None if there is nothing to predict. With `exact`, the heads also compute a loss that
        is otherwise estimated from a sample."""
        raise NotImplementedError


class PretrainingObjective(Model):
    """The model that `spacy pretrain` trains: an encoder and the heads of a task."""

    def __init__(
        self, encoder: Model, node: Model, task: PretrainingTask, log: PretrainingLog, *, resumable: bool = True
    ) -> None:
        """Put a task's heads on an encoder.

        encoder (Model[List[Doc], List[Floats2d]]): The model to pretrain and save.
        node (Model): The layer in it whose shim holds the torch module.
        task (PretrainingTask): The task.
        log (PretrainingLog): The log of losses.
        resumable (bool): Save the state of the run together with the encoder.
        """
        shim = ModuleShim(task.build_heads, mixed_precision=shim_of(node)._mixed_precision)
        heads: Model = Model("pretraining_heads", _no_forward, shims=[shim])
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
        """As in thinc, but also works for an optimiser without averages."""
        with super().use_params(params or {}):
            yield


class PretrainingLoss:
    """The function that `spacy pretrain` calls with the model's output."""

    def __init__(self, state: PretrainingState, log: PretrainingLog) -> None:
        self.state = state
        self.log = log

    @property
    def is_due(self) -> bool:
        """Whether the next update writes a log line."""
        return self.log.is_due(self.state.n_updates + 1)

    def __call__(self, ops: Any, docs: Sequence[Doc], losses: Optional[Losses]) -> Tuple[float, float]:
        """Log the loss of a batch and return it with its gradient; both are 0 if there was nothing to predict."""
        if losses is None:
            return 0.0, 0.0
        self.log.update(self.state.n_updates + 1, losses.parts, sum(map(len, docs)))
        return float(losses.total.detach()), 1.0


def init(model: Model, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    model.layers[0].initialize(X)
    settings = model.attrs["task"].head_settings(model.get_ref("node"))
    heads = shim_of(model.get_ref("heads"))
    if not heads.is_initialized:
        heads.initialize(settings)


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[Optional[Losses], Callable]:
    """Encode a batch and run the heads. Encoder and heads each have a shim, which may scale its own gradients, so the
    tensors that the heads read from the encoder (its output and a tied weight) are leaves whose gradients are passed
    on."""
    node, task = model.get_ref("node"), model.attrs["task"]
    encoder, heads = shim_of(node), shim_of(model.get_ref("heads"))
    batch = task.prepare(node, docs, exact=is_train and model.attrs["loss"].is_due)
    if batch is None:
        return None, lambda gradient: []
    output, backprop_encoder = (encoder.begin_update if is_train else _predict(encoder))(batch.inputs)
    leaves = {"output": output.detach().requires_grad_()}
    tied = task.tied_weight(encoder.module)
    if tied is not None:
        leaves["embeddings"] = tied.detach().requires_grad_()
    targets = {name: _to_device(value, output.device) for name, value in batch.targets.items()}
    run_heads = heads.begin_update if is_train else _predict(heads)
    losses, backprop_heads = run_heads(ArgsKwargs(args=(), kwargs={**leaves, **targets}))

    def backprop(gradient: float) -> List[Doc]:
        total = losses.total.reshape(1)  # the shape of a gradient scaler's factor
        backprop_heads(ArgsKwargs(args=((total,),), kwargs={"grad_tensors": (torch.full_like(total, gradient),)}))
        backprop_encoder(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (leaves["output"].grad,)}))
        if tied is not None:
            d_tied = leaves["embeddings"].grad
            tied.grad = d_tied if tied.grad is None else tied.grad.add_(d_tied)
        return []

    return losses, backprop


def build_objective(
    vocab: Vocab, tok2vec: Model, *, task: Callable[[], PretrainingTask], log: Dict[str, Any], resumable: bool
) -> PretrainingObjective:
    """Build the model that `spacy pretrain` trains.

    tok2vec (Model[List[Doc], List[Floats2d]]): The task's encoder, or a model with exactly one in it. Raises ValueError
        otherwise.
    task (Callable[[], PretrainingTask]): Creates the task.
    log (Dict[str, Any]): Arguments of PretrainingLog.
    resumable (bool): Save the state of the run together with the encoder.
    RETURNS (PretrainingObjective): The model.
    """
    created = task()
    nodes = [node for node in tok2vec.walk() if node.name == created.encoder]
    if len(nodes) != 1:
        raise ValueError(
            f"{created.name} pretrains {created.architecture}; expected exactly one in the model given by "
            f"[pretraining] component and layer ({tok2vec.name!r}), found {len(nodes)}."
        )
    return PretrainingObjective(tok2vec, nodes[0], created, PretrainingLog(**log), resumable=resumable)


def load_objective(config: Config, path: Union[str, Path]) -> Tuple[Language, Model]:
    """Rebuild the model of a run of `spacy pretrain`, with its heads.

    config (Config): The config of the run.
    path (Union[str, Path]): A file saved by the run with `resumable`. Raises ValueError for any other.
    RETURNS (Tuple[Language, Model]): The pipeline and the objective.
    """
    config = config.copy()
    config["initialize"]["init_tok2vec"] = None
    nlp = load_model_from_config(config, auto_fill=True)
    settings: Dict[str, Any] = registry.resolve(nlp.config.interpolate()["pretraining"], schema=ConfigSchemaPretrain)
    model = create_pretraining_model(nlp, settings)
    data = Path(path).read_bytes()
    if STATE_KEY.encode() not in data:
        raise ValueError(f"{path} has no pretraining heads: it was saved without resumable = true.")
    model.get_ref("tok2vec").from_bytes(data)
    return nlp, model


def _predict(shim: ModuleShim) -> Callable[[ArgsKwargs], Tuple[Any, Callable]]:
    return lambda inputs: (shim.predict(inputs), lambda gradients: [])


def _to_device(value: Any, device: torch.device) -> Any:
    if isinstance(value, np.ndarray):
        value = tensor_of(value)
    return value.to(device) if isinstance(value, torch.Tensor) else value


def _no_forward(model: Model, X: Any, is_train: bool) -> Any:
    raise NotImplementedError("The objective runs the heads.")
