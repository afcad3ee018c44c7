"""Conversion of NumPy and CuPy arrays to torch tensors and back, for the whole package.

Both sides share memory; only a change of device copies.
"""

from typing import Any, Optional, Union

import numpy as np
import torch
from thinc.util import torch2xp


def tensor_of(array: Any, device: Optional[Union[str, torch.device]] = None) -> torch.Tensor:
    """View an array as a tensor of the same type.

    array (Union[numpy.ndarray, cupy.ndarray]): The array.
    device (Optional[Union[str, torch.device]]): The tensor's device; None for that of the array.
    RETURNS (Tensor): The tensor. Writing to it changes the array, unless it is on another device.
    """
    # For a read-only array, `from_numpy` only warns, whereas DLPack refuses.
    tensor = torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)
    return tensor if device is None else tensor.to(device)


def numpy_of(tensor: torch.Tensor) -> np.ndarray:
    """RETURNS (numpy.ndarray): A tensor on any device as an array on the CPU, without its gradient."""
    return tensor.detach().cpu().numpy()


def array_of(tensor: torch.Tensor) -> Any:
    """RETURNS (Union[numpy.ndarray, cupy.ndarray]): A tensor as a thinc array on its device, without its gradient."""
    return torch2xp(tensor.detach())


def values_of(gradient: torch.Tensor) -> torch.Tensor:
    """View the values of a gradient.

    gradient (Tensor): The gradient, dense, or sparse and coalesced.
    RETURNS (Tensor): The gradient itself; of a sparse one, its rows.
    """
    return gradient.values() if gradient.is_sparse else gradient
