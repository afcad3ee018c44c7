"""Modules in 8 bits, for prediction on a CPU: linear layers multiply int8 by int8, and embeddings are rounded to it.

A weight is `codes * scale`, with one scale for each row. The rows that enter a linear layer are rounded in the same way
when they come (dynamic quantisation), so nothing has to be calibrated. The products are those of torchao, which is
where torch's own quantisation has moved to; its own linear layer takes up to three times as long for what is around
them.

An activation that lies between two codes may be rounded to either, so a last bit would matter that elsewhere does not:
products of int8 are exact, and what else sums floats does so in the same way whatever the rest of the batch is.
"""

import logging
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

KEY = "int8"  # in the settings of a module
SCALE = ".scale"  # after the name of a weight: its scales
LARGEST = 127
IN_INT8 = "A pipeline in 8 bits cannot be exported. Export the one that it was quantised from."
# Their sums are as long as a batch has texts or words; in double precision the order does not show.
ROUNDED = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.softmax, Tensor.softmax, functional.softmax}


class Int8Linear(nn.Module):
    """A linear layer in 8 bits: W x + b for any number of rows x, float[..., n_inputs]."""

    codes: Tensor  # int8[n_outputs, n_inputs]
    scale: Tensor  # float[n_outputs, 1]

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        codes, scale = _round(linear.weight)
        self.register_buffer("codes", codes)
        self.register_buffer("scale", scale)
        self.bias = linear.bias
        self._multiply = _import_product()

    def forward(self, rows: Tensor) -> Tensor:
        codes, scale = _round(rows.flatten(0, -2))
        product = self._multiply(codes, self.codes.t(), scale).mul_(self.scale.t())
        product = product if self.bias is None else product.add_(self.bias)
        return product.unflatten(0, rows.shape[:-1])


def _import_product() -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The product of int8 matrices, float[n, m], each row times its scale, float[n, 1]. Raises ImportError without
    torchao."""
    log = logging.getLogger("torchao")
    level = log.level
    log.setLevel(logging.ERROR)  # else it warns of kernels for other devices, which cannot be loaded here
    try:
        from torchao.kernel import int_scaled_matmul
    except ImportError as error:
        raise ImportError(
            'Models in 8 bits need torchao, which is not installed: pip install "spacy-lexner[int8]".'
        ) from error
    finally:
        log.setLevel(level)
    return int_scaled_matmul


def quantize(module: nn.Module) -> None:
    """Quantise the linear layers and round the embeddings of a module, in place. Raises ImportError without torchao."""
    module.requires_grad_(False)
    for part in list(module.modules()):
        if isinstance(part, nn.Embedding):
            part.weight.copy_(_restore(*_round(part.weight)))
        for name, child in part.named_children():
            if isinstance(child, nn.Linear):
                setattr(part, name, Int8Linear(child))


def pack(module: nn.Module) -> Dict[str, Tensor]:
    """The weights of a quantised module as plain tensors, int8 and their scales where they are quantised."""
    packed = module.state_dict()
    for name, part in module.named_modules():
        weight = f"{name}.weight"
        if isinstance(part, Int8Linear):
            packed[weight], packed[weight + SCALE] = packed.pop(f"{name}.codes"), packed.pop(f"{name}.scale")
        elif isinstance(part, nn.Embedding):
            packed[weight], packed[weight + SCALE] = _round(part.weight)
    return packed


def unpack(module: nn.Module, packed: Mapping[str, Tensor]) -> None:
    """Give a quantised module the weights that `pack` made."""
    state = dict(packed)
    for name, part in module.named_modules():
        weight = f"{name}.weight"
        if isinstance(part, Int8Linear):
            state[f"{name}.codes"], state[f"{name}.scale"] = state.pop(weight), state.pop(weight + SCALE)
        elif isinstance(part, nn.Embedding):
            state[weight] = _restore(state[weight], state.pop(weight + SCALE))
    module.load_state_dict(state)


class SameInAnyBatch(TorchFunctionMode):
    """Make attention and float32 products bitwise independent of the batch of a text within a `with` block."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            return _attend(*args, **kwargs)
        if func in ROUNDED:
            return func(*map(_double, args), **kwargs).to(args[0].dtype)
        return func(*args, **kwargs)


def _attend(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None, **options: Any) -> Tensor:
    """Attention among the B sequences of a padded batch, float [B, heads, L, width]: those of the same length
    together, without the padding."""
    if attn_mask is None:  # nothing is padded
        return functional.scaled_dot_product_attention(query, key, value, **options)
    seen = attn_mask[:, 0, 0] if attn_mask.dtype == torch.bool else attn_mask[:, 0, 0] == 0
    if query.shape != key.shape or len(seen) != len(query) or (seen[:, 1:] > seen[:, :-1]).any():
        doubled: Any = map(_double, (query, key, value, attn_mask))
        return functional.scaled_dot_product_attention(*doubled, **options).to(query.dtype)
    found = torch.zeros_like(query)
    rows: Dict[int, List[int]] = {}
    for row, length in enumerate(seen.sum(1).tolist()):
        rows.setdefault(length, []).append(row)
    for length, own in rows.items():
        parts: Any = (part[own, :, :length] for part in (query, key, value))
        found[own, :, :length] = functional.scaled_dot_product_attention(*parts, **options)
    return found


def _double(value: Any) -> Any:
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def _round(weight: Tensor) -> Tuple[Tensor, Tensor]:
    """Rows as codes, and the scale of each, float[n, 1]."""
    scale = weight.detach().abs().amax(1, keepdim=True) / LARGEST
    return (weight.detach() / scale.clamp(min=torch.finfo(scale.dtype).tiny)).round_().to(torch.int8), scale


def _restore(codes: Tensor, scale: Tensor) -> Tensor:
    return codes.to(scale.dtype) * scale
