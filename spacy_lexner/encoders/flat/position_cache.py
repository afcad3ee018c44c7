"""Projected relative positions kept between the batches of a prediction."""

from typing import Any, Callable, Iterable, Optional, Tuple

import torch
from torch import Tensor, nn

from .position_fusion import PositionKeys
from .relative_positions import span_distances

MAX_BYTES = 2**26  # of the vectors; positions that need more are computed anew each time
STEP = 64  # the farthest distance grows in steps, so that few batches find the cache too small


class PositionCache:
    """The vectors of all positions (s_i - s_j, p_i, p_j) up to a distance and a span length.

    They hold as long as the weights that they were computed with. Copies of a cache are empty.
    """

    def __init__(self) -> None:
        self._held: Optional[Tuple[Tuple, int, int, PositionKeys]] = None

    def clear(self) -> None:
        """Forget everything."""
        self._held = None

    def keys(
        self, triples: Tensor, parameters: Iterable[nn.Parameter], width: int, compute: Callable[[Tensor], PositionKeys]
    ) -> Optional[PositionKeys]:
        """Look up positions, and compute all up to the farthest one if some are not held.

        triples (torch.Tensor): int64 [u, 3].
        parameters (Iterable[torch.nn.Parameter]): The weights that the vectors depend on.
        width (int): Width of a vector.
        compute (Callable[[torch.Tensor], PositionKeys]): From distances int64 [n, 4] to keys.
        RETURNS (Optional[PositionKeys]): A row for each triple; None if the whole would be too large.
        """
        state = tuple(_fingerprint(parameter) for parameter in parameters)
        held = self._held
        distance, length = int(triples[:, 0].abs().amax()), int(triples[:, 1:].amax())
        if held is None or held[0] != state or held[1] < distance or held[2] < length:
            if held is not None and held[0] == state:
                distance, length = max(distance, held[1]), max(length, held[2])
            distance = -(-distance // STEP) * STEP
            if 4 * width * (2 * distance + 1) * (length + 1) ** 2 > MAX_BYTES:
                return None
            held = self._held = (state, distance, length, compute(span_distances(_grid(distance, length, triples))))
        _, distance, length, keys = held
        start, p_i, p_j = triples.unbind(-1)
        rows = (p_i * (length + 1) + p_j) * (2 * distance + 1) + start + distance
        return PositionKeys(keys.vectors, rows if keys.lookup is None else keys.lookup[rows])

    def __deepcopy__(self, memo: Any) -> "PositionCache":
        return PositionCache()

    def __reduce__(self) -> Tuple:
        return PositionCache, ()


def _grid(distance: int, length: int, like: Tensor) -> Tensor:
    starts = torch.arange(-distance, distance + 1, device=like.device)
    lengths = torch.arange(length + 1, device=like.device)
    p_i, p_j, start = torch.meshgrid(lengths, lengths, starts, indexing="ij")
    return torch.stack((start, p_i, p_j), dim=-1).view(-1, 3)


def _fingerprint(parameter: nn.Parameter) -> Tuple[int, float]:
    """What changes when weights do, be it by assignment, by torch or, behind its back, through shared memory."""
    return parameter.data_ptr(), float(parameter.detach().sum(dtype=torch.float64))
