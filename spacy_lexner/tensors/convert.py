"""Arrays of NumPy and CuPy as tensors of torch, and back: all that the package converts, it converts here.

Both sides share their memory. Nothing is copied but from one device to another.
"""

from typing import Any, Optional, Union

import numpy as np
import torch
from thinc.util import torch2xp


def tensor_of(array: Any, device: Optional[Union[str, torch.device]] = None) -> torch.Tensor:
    """Show an array as a tensor, of the same type.

    array (Union[numpy.ndarray, cupy.ndarray]): The array.
    device (Optional[Union[str, torch.device]]): Where the tensor shall be; None: where the array is.
    RETURNS (Tensor): The tensor. What is written to it is written to the array, unless it is on another device.
    """
    # Of an array that must not be written, `from_numpy` makes a tensor, with a warning; DLPack makes none.
    tensor = torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)
    return tensor if device is None else tensor.to(device)


def numpy_of(tensor: torch.Tensor) -> np.ndarray:
    """RETURNS (numpy.ndarray): A tensor, wherever it is, as an array on the CPU, without its gradient."""
    return tensor.detach().cpu().numpy()


def array_of(tensor: torch.Tensor) -> Any:
    """RETURNS (Union[numpy.ndarray, cupy.ndarray]): A tensor as an array of thinc where it is, without its gradient."""
    return torch2xp(tensor.detach())
