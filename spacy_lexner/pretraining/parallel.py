"""Pretraining in several processes: each reads its share of the batches, and all make the same updates.

A launcher (`accelerate launch`, `torchrun`) starts the processes, and Hugging Face's accelerate connects them. What
each then does is spaCy's own `pretrain`.
"""

import os
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, List, Optional, Tuple, cast

import torch
from spacy.training.pretrain import pretrain
from thinc.api import Config, Model, require_gpu
from thinc.util import get_torch_default_device
from torch import Tensor
from torch import distributed as dist

from ..tensors.convert import array_of, tensor_of
from .whole_files import WholeFiles

OURS = "spacy-lexner."
SHARE = "spacy-lexner.share_batches.v1"


def pretrain_together(
    config: Config,
    output: Path,
    *,
    resume_path: Optional[Path] = None,
    epoch_resume: Optional[int] = None,
    gpu_id: int = -1,
    silent: bool = True,
) -> None:
    """Pretrain as one of the processes started by a launcher, or in this process if there is none.

    config (Config): The config of the run, as for `spacy pretrain`.
    output (Path): The folder for the files of the run, which the first process writes.
    resume_path (Optional[Path]), epoch_resume (Optional[int]): As for `spacy pretrain`.
    gpu_id (int): The GPU, or -1 for the CPU; with a launcher each process uses its own GPU.
    silent (bool): Whether to hide the table of losses.
    Raises ValueError if the objective cannot be trained in parallel, ImportError without accelerate.
    """
    n, rank, local_rank = _join(gpu_id)
    if n > 1:
        architecture = config["pretraining"]["objective"]["@architectures"]
        if not architecture.startswith(OURS):
            raise ValueError(
                f"The objective {architecture} cannot be pretrained in {n} processes; expected one of this package "
                f"({OURS}Pretrain...). Start the command without a launcher."
            )
        config = share_batches(config, n, rank)
        gpu_id = local_rank if gpu_id >= 0 else gpu_id
    if gpu_id >= 0:
        require_gpu(gpu_id)
    with nullcontext(str(output)) if rank == 0 else TemporaryDirectory() as folder:
        pretrain(
            config,
            cast(Path, WholeFiles(Path(folder))),
            resume_path=resume_path,
            epoch_resume=epoch_resume,
            use_gpu=gpu_id,
            silent=silent or rank > 0,
            skip_last=False,
        )
    if n > 1:
        dist.barrier()
        dist.destroy_process_group()


def share_batches(config: Config, n: int, share: int) -> Config:
    """RETURNS (Config): A config by which one of `n` processes reads its share of the batches; only the first process
    logs."""
    config = config.copy()
    config["pretraining"]["batcher"] = {
        "@batchers": SHARE,
        "batcher": config["pretraining"]["batcher"],
        "n": n,
        "share": share,
    }
    if share:
        config["pretraining"]["objective"].update({"log_every": 0, "log_path": None, "progress_bar": False})
    return config


def average_gradients(model: Model) -> None:
    """Replace the gradients of a model by their means over all processes, if there are several. A missing gradient
    counts as zero, unless it is missing in all processes."""
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return
    places = list(_gradients(model))
    given = [get() for get, _, _ in places]
    device = next((gradient.device for gradient in given if gradient is not None), torch.device("cpu"))
    if dist.get_backend() == "nccl":
        device = torch.device("cuda", torch.cuda.current_device())
    counts = torch.tensor([float(gradient is not None) for gradient in given], device=device)
    dist.all_reduce(counts)
    used = [(place, gradient) for place, gradient, count in zip(places, given, counts.tolist()) if count]
    if not used:
        return
    flat = torch.cat(
        [
            torch.zeros(size, device=device) if gradient is None else gradient.float().reshape(-1)
            for (_, _, size), gradient in used
        ]
    )
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for ((_, put, _), _), mean in zip(used, flat.split([size for (_, _, size), _ in used])):
        put(mean)


Place = Tuple[Callable[[], Optional[Tensor]], Callable[[Tensor], None], int]  # getter, setter, number of elements


def _gradients(model: Model) -> List[Place]:
    """A getter, a setter and the size of each parameter's gradient, in an order that is the same in every process."""
    places: List[Place] = []
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                places.append(_of_node(node, name))
        for shim in node.shims:
            if isinstance(shim._model, torch.nn.Module):
                places += [_of_module(parameter) for parameter in shim._model.parameters() if parameter.requires_grad]
    return places


def _of_node(node: Model, name: str) -> Place:
    values: Any = node.get_param(name)

    def get() -> Optional[Tensor]:
        return tensor_of(node.get_grad(name), get_torch_default_device()) if node.has_grad(name) else None

    def put(mean: Tensor) -> None:
        node.set_grad(name, array_of(mean.reshape(values.shape)).astype(values.dtype))  # type: ignore[arg-type]

    return get, put, values.size


def _of_module(parameter: torch.nn.Parameter) -> Place:
    def get() -> Optional[Tensor]:
        return None if parameter.grad is None else parameter.grad.to_dense()

    def put(mean: Tensor) -> None:
        parameter.grad = mean.view_as(parameter).to(parameter.dtype, copy=True)

    return get, put, parameter.numel()


def _join(gpu_id: int) -> Tuple[int, int, int]:
    """Join the other processes of the launcher. RETURNS (Tuple[int, int, int]): The number of processes, the number of
    this one, and its number on this machine."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return 1, 0, 0
    try:
        from accelerate import PartialState
    except ImportError as error:
        raise ImportError(
            'Several processes need accelerate: pip install "spacy-lexner[accelerate]", or start without a launcher.'
        ) from error
    state = PartialState(cpu=gpu_id < 0)
    return state.num_processes, state.process_index, state.local_process_index
