"""Windows over wordpieces as padded tensors: what every BERT-shaped encoder reads."""

from typing import NamedTuple

import numpy as np
import torch

from .windows import Windows
from .wordpieces import Wordpieces


class PaddedPieces(NamedTuple):
    """A batch of windows, [CLS] and [SEP] around each.

    input_ids (torch.Tensor): int64[B, L], the pieces.
    attention_mask (torch.Tensor): bool[B, L], False where padded.
    kept (torch.Tensor): int64[N], the flat places of the pieces whose vectors are taken from their window.
    pieces (numpy.ndarray): int64[N], which piece of all Docs stands at each of those places.
    positions (numpy.ndarray): int64[B, L - 2], the piece at each place between [CLS] and [SEP].
    inside (numpy.ndarray): bool[B, L - 2], False where padded.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    kept: torch.Tensor
    pieces: np.ndarray
    positions: np.ndarray
    inside: np.ndarray


def pad_pieces(windows: Windows, ids: np.ndarray, wordpieces: Wordpieces, device: torch.device) -> PaddedPieces:
    """Make the tensors of a batch of windows.

    windows (Windows): The windows of the batch.
    ids (numpy.ndarray): int64[n_pieces], the wordpieces of all Docs.
    wordpieces (Wordpieces): The lookup they came from.
    device (torch.device): Where the tensors go.
    RETURNS (PaddedPieces): The batch.
    """
    lengths = windows.ends - windows.starts
    n_rows, width = len(lengths), int(lengths.max())
    positions = windows.starts[:, None] + np.arange(width)
    inside = positions < windows.ends[:, None]
    padded = np.full((n_rows, width + 2), wordpieces.pad, "i8")
    padded[:, 0] = wordpieces.cls
    padded[:, 1:-1][inside] = ids[positions[inside]]
    padded[np.arange(n_rows), lengths + 1] = wordpieces.sep
    mask = np.arange(width + 2) < lengths[:, None] + 2
    own = (positions >= windows.own_starts[:, None]) & (positions < windows.own_ends[:, None])
    rows, columns = np.nonzero(own)
    kept = rows * (width + 2) + columns + 1
    input_ids, attention_mask, places = (torch.from_numpy(array).to(device) for array in (padded, mask, kept))
    return PaddedPieces(input_ids, attention_mask, places, positions[own], positions, inside)
