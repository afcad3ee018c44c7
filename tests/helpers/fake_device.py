"""A fake device, which computes nothing.

Under torch's FakeTensorMode, tensors have a shape and a device but no data, and an operation across devices raises an
error, as on a GPU. The mode supports "cuda" too, but gradients there need a torch built with CUDA, so "meta" stands in.
"""

from typing import Any, Sequence

import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode
from torch.func import functional_call

DEVICE = torch.device("meta")


def fake_like(value: Any) -> Any:
    """Replace the tensors on the device in a structure by fake ones. Those on the CPU stay as they are."""
    if isinstance(value, Tensor):
        return torch.empty(value.shape, dtype=value.dtype, device=DEVICE) if value.is_meta else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(fake_like, value))
    return type(value)(map(fake_like, value)) if isinstance(value, (list, tuple)) else value


def run_on_device(module: nn.Module, inputs: Sequence[Any] = ()) -> None:
    """Run a module forward and backward with all its weights on the device. Raises RuntimeError if it creates a tensor
    elsewhere."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode.allow_meta = True
    with mode:
        state = {
            name: torch.empty(tensor.shape, dtype=tensor.dtype, device=DEVICE).requires_grad_(tensor.requires_grad)
            for name, tensor in (*module.named_parameters(), *module.named_buffers())
        }
        output = functional_call(module, state, fake_like(tuple(inputs)))
        wanted = [tensor for tensor in state.values() if tensor.requires_grad]
        gradients = torch.autograd.grad(output.sum(), wanted, allow_unused=True)
    found = [gradient.device for gradient in gradients if gradient is not None]
    assert found and {output.device, *found} == {DEVICE}
