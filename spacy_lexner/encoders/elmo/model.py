"""ELMo: word vectors from characters, a bidirectional language model over them, mixed layers (Peters et al. 2018)."""

from concurrent.futures import Executor
from typing import Iterator, List, Optional, Sequence, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from ..shared.packing import Packing, pack
from .bilm import BiLM, unpack
from .char_cnn import CharacterCNN
from .scalar_mix import ScalarMix

WORDS_AT_ONCE = 256


class ELMo(nn.Module):
    """Contextual vectors for words, from their characters alone.

    The character CNN does not know the context, so it runs once for each distinct word of a batch.

    characters (CharacterCNN): Characters to word vectors.
    bilm (BiLM): Word vectors to layers.
    mixes (Sequence[ScalarMix]): One or more mixes of the layers; their results stand side by side.
    mix_layers (Sequence[int]): The layers that are mixed; layer 0 is the word vector, twice.
    dropout (float): Share of the mixed values that is dropped in training.
    freeze (bool): Train the mixes alone.
    """

    def __init__(
        self,
        characters: CharacterCNN,
        bilm: BiLM,
        mixes: Sequence[ScalarMix],
        mix_layers: Sequence[int],
        *,
        dropout: float = 0.0,
        freeze: bool = True,
    ):
        super().__init__()
        self.characters = characters
        self.bilm = bilm
        self.mixes = nn.ModuleList(mixes)
        self.mix_layers = list(mix_layers)
        self.dropout = dropout
        self.freeze = freeze

    @property
    def width(self) -> int:
        """Width of the output."""
        return 2 * self.bilm.projection_dim * len(self.mixes)

    def forward(self, characters: Tensor, rows: Tensor, lengths: Tensor, top_only: bool = False) -> Tensor:
        """characters (Tensor): Character ids of the distinct words [n_words, length], int64.
        rows (Tensor): For each row of a ragged batch its word, int64 [n_rows].
        lengths (Tensor): Lengths of the sequences, int64 on the CPU, each at least 1.
        top_only (bool): Give the last layer instead of the mixes, trained even if `freeze` is set. This is what the
            language model predicts from in pretraining: the first half of a row has read the words up to this row, the
            second half those from this row on.
        RETURNS (Tensor): Shape [n_rows, width], or [n_rows, 2 * projection_dim] for the last layer.
        """
        packing = pack(lengths)
        trained = top_only or not self.freeze
        self.bilm.train(self.training and trained)
        with torch.set_grad_enabled(trained and torch.is_grad_enabled()):
            words = self.embed(characters)
        with self.bilm.second_core(words, trained) as executor:
            blocks = self._blocks(words, packing, rows, trained, executor)
            if top_only:
                return unpack(torch.cat([layers[-1] for layers in blocks], dim=1), packing)
            return dropout(self._mix(blocks, packing), self.dropout, self.training)

    def embed(self, characters: Tensor) -> Tensor:
        """Word vectors, computed for a bounded number of words at a time.

        characters (Tensor): Character ids [n_words, length].
        RETURNS (Tensor): Shape [n_words, projection_dim].
        """
        # Words of like length stand together, so that the CNN can drop more padding.
        order = (characters != self.characters.pad_id).sum(dim=1).argsort()
        words = torch.cat([self.characters(part) for part in characters[order].split(WORDS_AT_ONCE)])
        return words[order.argsort()]

    def _blocks(
        self, words: Tensor, packing: Packing, rows: Tensor, trained: bool, executor: Optional[Executor]
    ) -> Iterator[List[Tensor]]:
        blocks = self.bilm.blocks(words, packing, rows, executor)
        while True:
            with torch.set_grad_enabled(trained and torch.is_grad_enabled()):
                layers = next(blocks, None)
            if layers is None:
                return
            yield layers

    def _mix(self, blocks: Iterator[List[Tensor]], packing: Packing) -> Tensor:
        if any(mix.norm == "batch" for mix in self.mixes):  # it needs the mean over the whole batch
            blocks = iter([[torch.cat(parts, dim=1) for parts in zip(*blocks)]])
        mixed = ([mix([layers[number] for number in self.mix_layers]) for mix in self.mixes] for layers in blocks)
        if torch.is_grad_enabled():
            return torch.cat([unpack(torch.cat(parts, dim=1), packing) for parts in zip(*mixed)], dim=1)
        # Without gradients each block goes straight to its rows: a long Doc takes little more memory than its result.
        gamma = cast(ScalarMix, self.mixes[0]).gamma
        rows, start = packing.rows.to(gamma.device), 0
        result = gamma.new_empty(rows.shape[1], len(self.mixes), 2, self.bilm.projection_dim)
        for parts in mixed:
            end = start + parts[0].shape[1]
            for number, values in enumerate(parts):
                for direction in (0, 1):
                    result[rows[direction, start:end], number, direction] = values[direction]
            start = end
        return result.flatten(start_dim=1)
