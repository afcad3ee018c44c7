"""ELMo as a thinc layer from Docs of any length to one vector per token."""

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple, cast

import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d

from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...tensors.convert import array_of, tensor_of
from ..shared.shim import shim_of
from .batches import ELMoBatch, make_batch
from .bilm import BLOCK_ROWS
from .character_ids import character_ids
from .model import ELMo

Encoder = Model[List[Doc], List[Floats2d]]


@dataclass(frozen=True)
class ELMoOptions:
    """Options for running and training the module, see `build_elmo_v1`. They are not saved with the weights, so
    training may use other options than pretraining."""

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


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless it exists: components and commands initialise a model more than once."""
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=True, texts=False, units=False)
    if not shim.is_initialized:
        module = model.attrs["setup"].build(shim, X or [], texts)
        model.set_dim("nO", module.width)
    texts.clear()


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs. A Doc is one sentence, read as a whole in both directions."""
    batch = read_docs(model, docs)
    if batch is None:
        empty: Any = model.ops.alloc2f(0, model.get_dim("nO"))
        return [empty for _ in docs], lambda gradients: []
    shim, inputs = shim_of(model), batch.inputs()
    if not is_train:
        return _split(shim.predict(inputs), docs), lambda gradients: []
    output, backprop_output = shim.begin_update(inputs)

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if output.requires_grad:  # not if the model is frozen and the mix has fixed weights
            gradient = tensor_of(model.ops.xp.concatenate(gradients), output.device).to(output.dtype)
            d_output = torch.zeros_like(output).index_copy_(0, batch.tokens.to(output.device), gradient)
            backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        return []

    return _split(output.detach(), docs), backprop


def read_docs(model: Encoder, docs: Sequence[Doc]) -> Optional[ELMoBatch]:
    """Batch the Docs that are not empty; None if all are. Also applies the layer's options to the module, which may
    have been loaded since the last run. Raises ValueError if the layer is not initialised or its weights have other
    sizes."""
    shim, options = shim_of(model), model.attrs["options"]
    module = cast(ELMo, shim.module)
    module.dropout, module.freeze = options.dropout, options.freeze
    bilm = module.bilm
    bilm.dropout, bilm.stateful, bilm.block_rows = options.lstm_dropout, options.stateful, options.block_rows
    settings = shim.settings or {}
    model.attrs["setup"].check(settings, "the weights that were loaded")
    kept = [doc for doc in docs if len(doc)]
    return make_batch(kept, character_ids(settings["characters"]), shim.device) if kept else None


def _split(rows: torch.Tensor, docs: List[Doc]) -> List[Floats2d]:
    """RETURNS (List[Floats2d]): The rows of each Doc, without its begin and end, as views."""
    vectors: Any = array_of(rows.float())
    result, start = [], 0
    for doc in docs:
        begin = min(start + 1, len(vectors))
        result.append(vectors[begin : begin + len(doc)])
        start += len(doc) + 2 if len(doc) else 0
    return result
