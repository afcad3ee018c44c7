"""Modules in 8 bits, for prediction on a CPU: linear layers multiply int8 by int8, and embeddings are rounded to it.

A weight is `codes * scale`, with one scale for each row. The rows that enter a linear layer are rounded in the same way
when they come (dynamic quantisation), so nothing has to be calibrated. The products are those of torchao, which is
where torch's own quantisation has moved to.
"""

import logging
from typing import Any, Dict, Mapping, Tuple

import torch
from torch import Tensor, nn

KEY = "int8"  # in the settings of a module
SCALE = ".scale"  # after the name of a weight: its scales
LARGEST = 127


def quantize(module: nn.Module) -> None:
    """Quantise the linear layers and round the embeddings of a module, in place. Raises ImportError without torchao."""
    log = logging.getLogger("torchao")
    level = log.level
    log.setLevel(logging.ERROR)  # else it warns of kernels for other devices, which cannot be loaded here
    try:
        from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_
    except ImportError as error:
        raise ImportError(
            'Models in 8 bits need torchao, which is not installed: pip install "spacy-lexner[int8]".'
        ) from error
    finally:
        log.setLevel(level)
    module.requires_grad_(False)
    for part in module.modules():
        if isinstance(part, nn.Embedding):
            part.weight.copy_(_restore(*_round(part.weight)))
    quantize_(module, Int8DynamicActivationInt8WeightConfig(), lambda part, _: isinstance(part, nn.Linear))


def pack(module: nn.Module) -> Dict[str, Tensor]:
    """The weights of a quantised module as plain tensors, int8 and their scales where they are quantised."""
    embeddings = {f"{name}.weight" for name, part in module.named_modules() if isinstance(part, nn.Embedding)}
    packed: Dict[str, Tensor] = {}
    for name, tensor in module.state_dict().items():
        if _is_quantized(tensor):
            packed[name], packed[name + SCALE] = tensor.qdata, tensor.scale
        elif name in embeddings:
            packed[name], packed[name + SCALE] = _round(tensor)
        else:
            packed[name] = tensor
    return packed


def unpack(module: nn.Module, packed: Mapping[str, Tensor]) -> None:
    """Give a quantised module the weights that `pack` made."""
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if _is_quantized(tensor):
                tensor.qdata.copy_(packed[name])
                tensor.scale.copy_(packed[name + SCALE])
            elif name + SCALE in packed:
                tensor.copy_(_restore(packed[name], packed[name + SCALE]))
            else:
                tensor.copy_(packed[name])


def _is_quantized(tensor: Any) -> bool:
    return hasattr(tensor, "qdata")


def _round(weight: Tensor) -> Tuple[Tensor, Tensor]:
    scale = weight.detach().abs().amax(1, keepdim=True) / LARGEST
    return (weight.detach() / scale.clamp(min=torch.finfo(scale.dtype).tiny)).round().to(torch.int8), scale


def _restore(codes: Tensor, scale: Tensor) -> Tensor:
    return codes.to(scale.dtype) * scale
