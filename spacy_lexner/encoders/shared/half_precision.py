"""The choice of the 16-bit format for mixed precision, and the scaling of gradients that one of them needs."""

from typing import Any, Dict, Optional

import torch
from thinc.api import PyTorchGradScaler
from thinc.util import get_torch_default_device


def half_precision(device: torch.device) -> Optional[torch.dtype]:
    """RETURNS (Optional[torch.dtype]): The 16-bit format for a device: on a GPU bfloat16 if supported, otherwise
    float16, which needs gradient scaling; on a processor with AMX bfloat16, otherwise None, since 16 bits would be
    slower."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "cpu" and _cpu_has_tiles():
        return torch.bfloat16
    return None


def gradient_scaler(mixed_precision: bool, config: Optional[Dict[str, Any]] = None) -> PyTorchGradScaler:
    """RETURNS (PyTorchGradScaler): A scaler for thinc's current device. It does nothing unless `mixed_precision` means
    float16 there: only its range is too small for gradients. `config` holds arguments of PyTorchGradScaler."""
    settings = {"enabled": mixed_precision, **(config or {})}
    settings["enabled"] = settings["enabled"] and half_precision(get_torch_default_device()) is torch.float16
    return PyTorchGradScaler(**settings)


def _cpu_has_tiles() -> bool:
    # Vector instructions for bfloat16 (AVX-512) do not make up for the conversions: with them alone a small BERT is
    # trained more slowly than in float32. torch has no public name for this question; where it cannot be asked, the
    # answer is no.
    ask = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return ask is not None and bool(ask())
