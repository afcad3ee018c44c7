"""Bilinear attention of tokens to the words that cover them (Liu et al. 2021, equations 3-6)."""

from typing import List, Literal, Optional, Tuple, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ...candidates.batch_words import BatchWords
from .windows import Windows
from .words import Words, WordTable, number_words

Empty = Literal["zero", "pad"]  # what a token without words receives


class WordAttention(nn.Module):
    """With h the vector of a token (width H) and x_1..x_m those of its candidate words (width D):

        v_j = W2 tanh(W1 x_j + b1) + b2         the word in the space of the tokens
        a   = softmax_j(h A v_j)                bilinear attention over the words of the token
        z   = sum_j a_j v_j

    All that depends on the word alone (v_j, its dropout, A v_j) is computed once for each distinct word of the batch;
    tokens gather it. So the dropout of a word is the same everywhere in a batch.

    `empty` is what a token without words receives: "zero" (z = 0), or "pad" (the transformed vector of the padding
    word, as in effect in the authors' code). `initializer_range` is the standard deviation of the initial weights.
    """

    def __init__(
        self,
        hidden_width: int,
        word_width: int,
        *,
        dropout: float = 0.1,
        empty: str = "zero",
        initializer_range: float = 0.02,
    ) -> None:
        super().__init__()
        if empty not in get_args(Empty):
            raise ValueError(
                f"Unknown vector of a token without words: empty={empty!r}. Choose one of {get_args(Empty)}."
            )
        self.empty = empty
        self.word_in = nn.Linear(word_width, hidden_width)
        self.word_out = nn.Linear(hidden_width, hidden_width)
        self.attention = nn.Parameter(torch.empty(hidden_width, hidden_width))
        self.dropout = nn.Dropout(dropout)
        for weight in (self.word_in.weight, self.word_out.weight, self.attention):
            nn.init.normal_(weight, std=initializer_range)
        for bias in (self.word_in.bias, self.word_out.bias):
            nn.init.zeros_(bias)

    def attend(self, hidden: Tensor, words: Tensor, slots: Tensor, record: Optional[List[Tensor]] = None) -> Tensor:
        """Give each token of a padded batch the sum z of its candidate words, float[B, L, H].

        hidden (Tensor): Token vectors, float[B, L, H].
        words (Tensor): Vectors of the padding word (row 0) and of the U distinct words, float[1 + U, D].
        slots (Tensor): For every token the rows of its words, int64[B, L, W] with W >= 1; 0 is an empty slot.
        record (Optional[List[Tensor]]): If given, the attention to the words, float[B, L, W], is appended to it.
        """
        values = self.dropout(self.word_out(torch.tanh(self.word_in(words))))
        keys = values @ self.attention.t()
        scores = (functional.embedding(slots, keys) * hidden.unsqueeze(-2)).sum(dim=-1)
        vacant = slots == 0
        weights = scores.masked_fill(vacant, torch.finfo(scores.dtype).min).softmax(dim=-1)
        if self.empty == "zero":
            weights = weights.masked_fill(vacant, 0.0)
        if record is not None:
            record.append(weights)
        n_words = slots.shape[-1]
        fused = functional.embedding_bag(
            slots.reshape(-1, n_words),
            values,
            per_sample_weights=weights.to(values.dtype).reshape(-1, n_words),
            mode="sum",
        )
        return fused.view(hidden.shape)


def pad_slots(
    windows: Windows, slots: np.ndarray, words: BatchWords, table: WordTable, device: torch.device
) -> Tuple[Tensor, Words]:
    """Give the units of padded windows their words, from slots, int[n_units, W], of words by number; -1 is empty. A
    word that its window cuts is left out. Gives rows as `number_words` does, int64[B, L, W], and the distinct words."""
    places, inside, _ = windows.pad()
    chosen = np.full((*places.shape, slots.shape[1]), -1, "i8")
    chosen[inside] = slots[places[inside]]
    filled = np.nonzero(chosen >= 0)
    row, number = filled[0], chosen[filled]
    whole = (words.starts[number] >= windows.starts[row]) & (words.ends[number] <= windows.ends[row])
    chosen[filled] = np.where(whole, number, -1)
    return number_words(chosen, words, table, device)
