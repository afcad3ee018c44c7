"""The vectors of the candidate words of a batch: given by the lexicon, fine-tuned, or learned by word length."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

MAX_LENGTH = 6  # longer words, and single characters, share one vector


class Words(NamedTuple):
    """The U distinct words of a batch.

    vectors (Tensor): Their vectors in the lexicon, float [U, D]; anything where there is none.
    known (Tensor): Whether the lexicon has a vector, bool [U].
    lengths (Tensor): Their lengths in characters, int64 [U].
    tuned (Tensor): Their rows in the fine-tuned table, int64 [U]; -1 for words that are not in it.
    """

    vectors: Tensor
    known: Tensor
    lengths: Tensor
    tuned: Tensor


class WordVectors(nn.Module):
    """Look up the vectors of a batch's words, and the vector of the padding word.

    A word has the vector of the fine-tuned table if it is in it, else that of the lexicon, else one that is learned for
    all words of its length (the `<unk>` and `<unk2>` ... `<unk6>` of the authors' code).

    width (int): Width D of the word vectors.
    n_tuned (int): Number of fine-tuned words; 0 leaves all words as the lexicon has them.
    """

    tuned_hashes: Tensor

    def __init__(self, width: int, n_tuned: int = 0) -> None:
        super().__init__()
        bound = math.sqrt(3.0 / width)
        self.width = width
        self.padding = nn.Parameter(torch.empty(1, width).uniform_(-bound, bound))
        self.by_length = nn.Parameter(torch.empty(MAX_LENGTH, width).uniform_(-bound, bound))
        self.tuned = nn.Parameter(torch.empty(n_tuned, width).uniform_(-bound, bound))
        self.register_buffer("tuned_hashes", torch.zeros(n_tuned, dtype=torch.int64))

    def forward(self, words: Words) -> Tensor:
        """Look up a batch.

        words (Words): The U distinct words.
        RETURNS (Tensor): float [1 + U, D]; row 0 is the padding word.
        """
        lengths = torch.where((words.lengths > 1) & (words.lengths <= MAX_LENGTH), words.lengths - 1, 0)
        vectors = torch.where(words.known.unsqueeze(-1), words.vectors, self.by_length[lengths])
        if len(self.tuned):
            tuned = self.tuned[words.tuned.clamp(min=0)]
            vectors = torch.where((words.tuned >= 0).unsqueeze(-1), tuned, vectors)
        return torch.cat([self.padding, vectors.to(self.padding.dtype)])
