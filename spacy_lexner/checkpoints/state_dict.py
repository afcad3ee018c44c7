"""Weight files written by torch.save, read as tensors only."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Dict, Iterable

import torch
from torch import nn

from ..encoders.shared.weights import find_mismatch


def read_state_dict(path: Path) -> Dict[str, torch.Tensor]:
    """Read weights as float32, by name without the `module.` prefix of distributed training. Only tensors are
    unpickled; other objects in the file are refused. Raises ValueError if the file is not a state dict or is damaged,
    or a weight is not finite."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ValueError(f"{path} does not exist; expected a file of weights.") from error
    except UnpicklingError as error:  # torch's text advises to run any code in the file
        raise ValueError(
            f"{path} is not a file of weights, or holds more than tensors, which is refused since it could run code. "
            "Save the model's state_dict() alone: torch.save(model.state_dict(), FILE)."
        ) from error
    except Exception as error:  # torch has no error of its own for a damaged file
        raise ValueError(f"{path} is not a file of weights, or is incomplete ({error}).") from error
    if not isinstance(state, dict) or not all(
        isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in state.items()
    ):
        raise ValueError(f"{path} is not a file of weights: expected a dictionary of tensors by name.")
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: the weights {name} are not finite: training diverged, or the file is damaged.")
    return {name.removeprefix("module."): tensor.float() for name, tensor in state.items()}


def fill_module(module: nn.Module, state: Dict[str, torch.Tensor], path: Path, *, derived: Iterable[str] = ()) -> None:
    """Load weights into a module; `path` names their file in errors. Raises ValueError if they do not fit the module.
    Names that end in one of `derived` hold no weights and may be missing or superfluous."""
    expected = {name: tensor.shape for name, tensor in module.state_dict().items()}
    problem = find_mismatch({name: tensor.shape for name, tensor in state.items()}, expected, derived=tuple(derived))
    if problem is not None:
        raise ValueError(f"The weights in {path} do not fit its config: {problem}.")
    module.load_state_dict(state, strict=False)
