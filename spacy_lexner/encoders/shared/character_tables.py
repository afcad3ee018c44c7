"""Tables of character and bigram vectors, built from the training texts and from files."""

from typing import Any, Dict, NamedTuple, Optional, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...lexicon.normalization import Normalization
from ...tensors.convert import tensor_of
from .character_options import CharacterOptions
from .vector_file import Vectors, read_vectors
from .vocab import PADDING, UNKNOWN, build_vocab, load_vocab


class TokenVectors(nn.Embedding):
    """A table of `n_rows` that are trained (row 0 is padding, row 1 unknown tokens, which start at zero as in the
    authors' code, the others random), then `n_fixed` that are not: vectors of what only other texts have."""

    fixed: Tensor

    def __init__(self, n_rows: int, width: int, n_fixed: int = 0) -> None:
        super().__init__(n_rows, width, padding_idx=PADDING)
        bound = (3.0 / width) ** 0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.weight[PADDING : UNKNOWN + 1])
        self.register_buffer("fixed", torch.zeros(n_fixed, width))

    def forward(self, ids: Tensor) -> Tensor:
        trained = super().forward(ids.clamp(max=len(self.weight) - 1))
        if not len(self.fixed):
            return trained
        beyond = ids - len(self.weight)
        return torch.where((beyond >= 0).unsqueeze(-1), self.fixed[beyond.clamp(min=0)], trained)

    def load(self, ids: Tensor, vectors: Tensor) -> None:
        """Set the rows `ids`, int64 [n], of which the fixed ones come after the others, to vectors, float [n, D]."""
        n_rows = len(self.weight)
        with torch.no_grad():
            self.weight[ids[ids < n_rows]] = vectors[ids < n_rows].to(self.weight)
            self.fixed[ids[ids >= n_rows] - n_rows] = vectors[ids >= n_rows].to(self.fixed)

    def normalize(self) -> None:
        """Scale every row to length 1, except for rows of zeros."""
        with torch.no_grad():
            for table in (self.weight, self.fixed):
                table.copy_(unit_length(table))


class CharacterTables(NamedTuple):
    """The contents of a model's tables."""

    characters: Vectors
    bigrams: Vectors
    vocab: Dict[str, Any]  # settings for `load_vocab`

    @classmethod
    def read(cls, options: CharacterOptions, texts: Sequence[str], normalization: Normalization) -> "CharacterTables":
        """Read the files that the options name, and number what they and the training texts hold."""
        characters = read_vectors(options.character_vectors, "characters", options.vector_width, normalization)
        bigrams = read_vectors(options.bigram_vectors, "bigrams", options.vector_width, normalization)
        fixed = (characters.keys, bigrams.keys) if options.keep_vectors else ([], [])
        return cls(characters, bigrams, build_vocab(texts, options, *fixed, normalization))

    def sizes(self) -> Dict[str, int]:
        """The sizes of the tables, as arguments of a module. Without bigrams these have no rows."""
        vocab = load_vocab(self.vocab)
        return {
            "n_characters": vocab.n_characters + UNKNOWN + 1,
            "n_fixed_characters": vocab.n_fixed_characters,
            "character_width": self.characters.width,
            "n_bigrams": 0 if self.vocab["bigrams"] is None else vocab.n_bigrams + UNKNOWN + 1,
            "n_fixed_bigrams": vocab.n_fixed_bigrams,
            "bigram_width": self.bigrams.width,
        }

    def load(self, characters: TokenVectors, bigrams: Optional[TokenVectors]) -> None:
        """Start tables of these sizes from the vectors of the files."""
        vocab = load_vocab(self.vocab)
        for kind, table, given in (("characters", characters, self.characters), ("bigrams", bigrams, self.bigrams)):
            if table is not None:
                rows = vocab.rows(kind, given.keys)
                known = rows > UNKNOWN
                table.load(tensor_of(rows[known]), tensor_of(given.vectors[known]))


def drop_tokens(ids: Tensor, share: float) -> Tensor:
    """Replace a share of characters or bigrams by the unknown one."""
    if not share:
        return ids
    dropped = (torch.rand(ids.shape, device=ids.device) < share) & (ids != PADDING)
    return ids.masked_fill(dropped, UNKNOWN)


def unit_length(vectors: Tensor) -> Tensor:
    """Vectors, float [..., D], scaled to length 1; zeros stay."""
    return F.normalize(vectors, dim=-1, eps=1e-12)
