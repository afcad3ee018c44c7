"""The number format of mixed precision."""

from typing import Optional

import torch


def half_precision(device: torch.device) -> Optional[torch.dtype]:
    """Find the format of 16 bits that a device multiplies matrices in.

    device (torch.device): The device.
    RETURNS (Optional[torch.dtype]): bfloat16 where the device has it; else float16 on a GPU, which needs gradient
        scaling; None for a processor without bfloat16, where 16 bits would be slower than 32.
    """
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "cpu" and _cpu_has_bfloat16():
        return torch.bfloat16
    return None


def _cpu_has_bfloat16() -> bool:
    # torch has no public name for this question yet; where it cannot be asked, the answer is no.
    asked = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(ask is not None and ask() for ask in asked)
