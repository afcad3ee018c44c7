"""ELMo as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d
from thinc.util import torch2xp, xp2torch

from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ..shared.shim import ModuleShim
from .batches import ELMoBatch, make_batch
from .bilm import BLOCK_ROWS
from .character_ids import CharacterIds, character_ids
from .model import ELMo
from .setup import ELMoSetup, build_elmo

Encoder = Model[List[Doc], List[Floats2d]]


@dataclass(frozen=True)
class ELMoOptions:
    """How the module is run and trained: see `build_elmo_v1`. Not part of the weights: the config of training may set
    other options than that of pretraining."""

    dropout: float = 0.5
    lstm_dropout: float = 0.1
    freeze: bool = False
    stateful: bool = False
    block_rows: int = BLOCK_ROWS

    def __post_init__(self) -> None:
        for name in ("dropout", "lstm_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} is out of range: it must be from 0 to below 1.")
        if self.block_rows < 1:
            raise ValueError(f"block_rows = {self.block_rows} is out of range: it must be at least 1.")


def ELMoEncoder(
    setup: ELMoSetup,
    options: ELMoOptions,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer. The torch module is built when it is initialised or loaded.

    setup (ELMoSetup): What the module is made of.
    options (ELMoOptions): How it is run.
    mixed_precision (bool): See ModuleShim.
    grad_scaler_config (Optional[Dict[str, Any]]): See ModuleShim.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    attrs: Dict[str, Any] = {"setup": setup, "options": options}
    if setup.reads_tokens:
        attrs[ATTRIBUTE] = TrainingTexts(tokens=True, texts=False)
    shim = ModuleShim(build_elmo, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config)
    return Model("elmo", forward, init=init, shims=[shim], dims={"nO": setup.width}, attrs=attrs)


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = elmo_shim(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=True, texts=False)
    if not shim.is_initialized:
        module = model.attrs["setup"].build(shim, X or [], texts)
        model.set_dim("nO", module.width)
    texts.clear()


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs. A Doc is one sentence, read as a whole from both sides."""
    shim = prepare(model)
    kept = [doc for doc in docs if len(doc)]
    if not kept:
        empty: Any = model.ops.alloc2f(0, model.get_dim("nO"))
        return [empty for _ in docs], lambda gradients: []
    batch = make_batch(kept, get_character_ids(model)).to(shim.device)
    if not is_train:
        return _split(shim.predict(module_inputs(batch)), docs), lambda gradients: []
    output, backprop_output = shim.begin_update(module_inputs(batch))

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if output.requires_grad:  # not if the model is frozen and the mix has fixed weights
            gradient = xp2torch(model.ops.xp.concatenate(gradients), device=output.device).to(output.dtype)
            d_output = torch.zeros_like(output).index_copy_(0, batch.tokens, gradient)
            backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        return []

    return _split(output.detach(), docs), backprop


def prepare(model: Encoder) -> ModuleShim:
    """Set the module to the options of the layer: it may have been loaded since it was last run.

    model (Encoder): An ELMo layer.
    RETURNS (ModuleShim): Its shim. Raises ValueError before it is initialised, and where the weights that were loaded
        have other sizes than the layer.
    """
    shim, options = elmo_shim(model), model.attrs["options"]
    module = cast(ELMo, shim.module)
    module.dropout, module.freeze = options.dropout, options.freeze
    bilm = module.bilm
    bilm.dropout, bilm.stateful, bilm.block_rows = options.lstm_dropout, options.stateful, options.block_rows
    model.attrs["setup"].check(shim.settings, "the weights that were loaded")
    return shim


def module_inputs(batch: ELMoBatch, *, top_only: bool = False) -> ArgsKwargs:
    """batch (ELMoBatch): The batch.
    top_only (bool): Ask for the last layer of the language model.
    RETURNS (ArgsKwargs): The arguments of the module.
    """
    return ArgsKwargs(args=(batch.characters, batch.rows, batch.lengths), kwargs={"top_only": top_only})


def get_character_ids(model: Encoder) -> CharacterIds:
    """model (Encoder): An ELMo layer, initialised.
    RETURNS (CharacterIds): How its words become characters.
    """
    settings = elmo_shim(model).settings
    assert settings is not None
    return character_ids(settings["characters"])


def elmo_shim(model: Encoder) -> ModuleShim:
    """model (Encoder): An ELMo layer.
    RETURNS (ModuleShim): Its shim.
    """
    return cast(ModuleShim, model.shims[0])


def _split(rows: torch.Tensor, docs: List[Doc]) -> List[Floats2d]:
    """The rows of each Doc, without its begin and end. They share memory."""
    vectors: Any = torch2xp(rows.float())
    result, start = [], 0
    for doc in docs:
        begin = min(start + 1, len(vectors))
        result.append(vectors[begin : begin + len(doc)])
        start += len(doc) + 2 if len(doc) else 0
    return result
