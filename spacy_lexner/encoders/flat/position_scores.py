"""The positional part of attention's scores, without ever holding a vector for each pair of tokens."""

from typing import Any, Callable, Iterable, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .distinct_positions import Chunk, Section, triple_distances
from .positions import PositionKeys

MAX_CACHE_BYTES = 2**26  # of the vectors; positions that need more are computed each time
CACHE_STEP = 64  # the farthest distance grows in steps, so that few batches find the cache too small


def position_scores(queries: Tensor, keys: PositionKeys, section: Section, n_keys: int) -> Tensor:
    """Score each query of a section against the relative position of every key: `(q_i + v) . (W_r R_ij + b_r)`.

    A chunk of queries is multiplied with all the position vectors that any of them needs; then scores, not vectors, are
    gathered per pair. Nothing but the operands is kept for the backward pass.

    queries (torch.Tensor): float [heads, B * Q, d], q + v of all queries.
    keys (PositionKeys): Projected positions of the section's triples.
    RETURNS (torch.Tensor): float [heads, B * Q, L], with L = `n_keys`; 0 for queries that are not in the section.
    """
    scores: Tensor = _PositionScores.apply(queries, keys.vectors, keys.lookup, section, n_keys)  # type: ignore
    return scores


class _PositionScores(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, queries: Tensor, vectors: Tensor, lookup: Optional[Tensor], section: Section, n_keys: int
    ) -> Tensor:
        chunks = section.chunks
        if lookup is not None:
            chunks = [chunk._replace(columns=lookup[chunk.columns]) for chunk in chunks]
        # Indices are saved like operands, so that checkpointing drops them too: they are a quarter of the scores.
        ctx.save_for_backward(queries, vectors, *(index for chunk in chunks for index in chunk))
        heads, n_rows, _ = queries.shape
        scores = queries.new_zeros(heads, n_rows, n_keys)
        workspace = _workspace(queries, chunks)
        rows_of_queries = queries.transpose(0, 1).reshape(n_rows, -1)
        for chunk in chunks:
            block = torch.bmm(
                _by_head(rows_of_queries, chunk.rows, queries),
                _by_head(vectors, chunk.columns, queries).transpose(1, 2),
                out=_block(workspace, chunk, heads),
            )
            scores.index_copy_(1, chunk.rows, block.gather(2, chunk.pairs.expand(heads, -1, -1)))
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_scores: Tensor) -> Tuple[Tensor, Tensor, None, None, None]:  # type: ignore[override]
        queries, vectors, *indices = ctx.saved_tensors
        chunks = [Chunk(*indices[i : i + 3]) for i in range(0, len(indices), 3)]
        heads = len(queries)
        d_queries, d_vectors = torch.zeros_like(queries), torch.zeros_like(vectors)
        workspace = _workspace(queries, chunks)
        for chunk in chunks:
            d_block = _block(workspace, chunk, heads).zero_()
            d_block.scatter_add_(2, chunk.pairs.expand(heads, -1, -1), d_scores.index_select(1, chunk.rows))
            d_queries.index_copy_(1, chunk.rows, torch.bmm(d_block, _by_head(vectors, chunk.columns, queries)))
            d_positions = torch.bmm(d_block.transpose(1, 2), queries.index_select(1, chunk.rows))
            d_rows = d_positions.transpose(0, 1).reshape(len(chunk.columns), -1).to(vectors.dtype)
            d_vectors.index_add_(0, chunk.columns, d_rows)
        return d_queries, d_vectors, None, None, None


def _by_head(vectors: Tensor, rows: Tensor, queries: Tensor) -> Tensor:
    """Rows of the table, as [heads, rows, d]."""
    return vectors.index_select(0, rows).to(queries.dtype).view(len(rows), len(queries), -1).transpose(0, 1)


def _workspace(queries: Tensor, chunks: List[Chunk]) -> Tensor:
    """Room for the scores of the largest chunk: allocated once, since fresh memory is slow memory."""
    largest = max((len(chunk.rows) * len(chunk.columns) for chunk in chunks), default=0)
    return queries.new_empty(len(queries) * largest)


def _block(workspace: Tensor, chunk: Chunk, heads: int) -> Tensor:
    shape = (heads, len(chunk.rows), len(chunk.columns))
    return workspace[: shape[0] * shape[1] * shape[2]].view(shape)


class PositionCache:
    """The vectors of all positions up to a distance and a span length, kept between the batches of a prediction for as
    long as the weights that they were computed with do not change. Copies of a cache are empty."""

    def __init__(self) -> None:
        self._held: Optional[Tuple[Tuple, int, int, PositionKeys]] = None

    def clear(self) -> None:
        self._held = None

    def keys(
        self, triples: Tensor, parameters: Iterable[nn.Parameter], width: int, compute: Callable[[Tensor], PositionKeys]
    ) -> Optional[PositionKeys]:
        """Look up positions; compute all up to the farthest one if some are missing.

        triples (torch.Tensor): int64 [u, 3], see `Section`.
        parameters (Iterable[torch.nn.Parameter]): The weights that the vectors, of this width, depend on.
        compute (Callable[[torch.Tensor], PositionKeys]): From distances, int64 [n, 4], to keys.
        RETURNS (Optional[PositionKeys]): A row for each triple; None if the whole would be too large.
        """
        state = tuple(_fingerprint(parameter) for parameter in parameters)
        held = self._held
        distance, length = int(triples[:, 0].abs().amax()), int(triples[:, 1:].amax())
        if held is None or held[0] != state or held[1] < distance or held[2] < length:
            if held is not None and held[0] == state:
                distance, length = max(distance, held[1]), max(length, held[2])
            distance = -(-distance // CACHE_STEP) * CACHE_STEP
            if 4 * width * (2 * distance + 1) * length**2 > MAX_CACHE_BYTES:
                return None
            lengths = torch.arange(1, length + 1, device=triples.device)
            reach = torch.arange(-distance, distance + 1, device=triples.device)
            grid = torch.cartesian_prod(lengths, lengths, reach)[:, [2, 0, 1]]
            held = self._held = (state, distance, length, compute(triple_distances(grid)))
        _, distance, length, keys = held
        heads, n_i, n_j = triples.unbind(-1)
        rows = ((n_i - 1) * length + n_j - 1) * (2 * distance + 1) + heads + distance
        return PositionKeys(keys.vectors, rows if keys.lookup is None else keys.lookup[rows])

    def __deepcopy__(self, memo: Any) -> "PositionCache":
        return PositionCache()

    def __reduce__(self) -> Tuple:
        return PositionCache, ()


def _fingerprint(parameter: nn.Parameter) -> Tuple[int, float]:
    """What changes when weights do: by assignment, by torch or, unseen by torch, through shared memory."""
    return parameter.data_ptr(), float(parameter.detach().sum(dtype=torch.float64))
