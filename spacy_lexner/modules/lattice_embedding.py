"""The input of FLAT: characters with their bigrams and context, and words, in one lattice of equal vectors."""

from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .word_vectors import Words, WordVectors

PADDING, UNKNOWN = 0, 1  # ids in the tables of characters and bigrams
DROPOUT_PLACES = ("before_projection", "after_projection", "after_positions")


class LatticeEmbedding(nn.Module):
    """Embed characters and words and project both to the hidden width, each by a matrix of its own.

    A character is its own vector, beside the vector of the bigram that begins with it and a vector from elsewhere
    (a contextual encoder), as far as there are such.
    """

    def __init__(
        self,
        width: int,
        *,
        n_characters: int,
        character_width: int = 50,
        n_bigrams: int = 0,
        bigram_width: int = 50,
        word_width: int = 50,
        n_tuned_words: int = 0,
        contextual_width: int = 0,
        normalize: bool = True,
        token_dropout: float = 0.01,
        character_dropout: float = 0.5,
        word_dropout: float = 0.5,
        dropout_place: str = "before_projection",
    ) -> None:
        """Create the embedding.

        width (int): H, the hidden width.
        n_characters (int): Rows of the character table, 0 being padding and 1 unknown characters.
        character_width (int): Width of the character vectors.
        n_bigrams (int): Rows of the bigram table, as for characters; 0 leaves bigrams out.
        bigram_width (int): Width of the bigram vectors.
        word_width (int): Width of the word vectors; 0 makes a model without words.
        n_tuned_words (int): Rows of the table of fine-tuned words.
        contextual_width (int): Width of the contextual vectors of the characters; 0 leaves them out.
        normalize (bool): Word vectors have length 1, and so have vectors given to `load`.
        token_dropout (float): Chance that a character, bigram or word counts as unknown in training.
        character_dropout (float): Dropout of the character's vectors, or of all where `dropout_place` is another one.
        word_dropout (float): Dropout of the word vectors before their projection.
        dropout_place (str): `before_projection`; `after_projection` or `after_positions` (the absolute ones) drop from
            the lattice of hidden vectors instead, words and characters alike.
        """
        super().__init__()
        if dropout_place not in DROPOUT_PLACES:
            raise ValueError(f"Unknown dropout_place {dropout_place!r}. Known are: {', '.join(DROPOUT_PLACES)}.")
        self.normalize = normalize
        self.token_dropout = token_dropout
        self.dropout_place = dropout_place
        self.characters = nn.Embedding(n_characters, character_width, padding_idx=PADDING)
        self.bigrams = nn.Embedding(n_bigrams, bigram_width, padding_idx=PADDING) if n_bigrams else None
        self.words = WordVectors(word_width, n_tuned_words) if word_width else None
        self.contextual_width = contextual_width
        n_inputs = character_width + (bigram_width if n_bigrams else 0) + contextual_width
        self.project_characters = nn.Linear(n_inputs, width)
        self.project_words = nn.Linear(word_width, width) if word_width else None
        self.character_dropout = nn.Dropout(character_dropout)
        self.word_dropout = nn.Dropout(word_dropout)
        for projection in (self.project_characters, self.project_words):
            if projection is not None:
                nn.init.xavier_uniform_(projection.weight)
        for table in (self.characters, self.bigrams):
            if table is not None:
                bound = (3.0 / table.embedding_dim) ** 0.5
                nn.init.uniform_(table.weight, -bound, bound)
                self._finish(table)

    def load(self, table: nn.Embedding, rows: Tensor, vectors: Tensor) -> None:
        """Set rows of the character or bigram table to pretrained vectors.

        table (nn.Embedding): `characters` or `bigrams`.
        rows (torch.Tensor): int64 [n], the rows.
        vectors (torch.Tensor): float [n, D], finite.
        """
        if vectors.shape[1:] != (table.embedding_dim,):
            raise ValueError(
                f"The vectors have {vectors.shape[1]} values, the table {table.embedding_dim}: set the width of the "
                "table to that of the vectors."
            )
        if not torch.isfinite(vectors).all():
            n_bad = int((~torch.isfinite(vectors)).any(-1).sum())
            raise ValueError(
                f"{n_bad} of the {len(vectors)} vectors hold NaN or infinity: remove them from their file."
            )
        with torch.no_grad():
            table.weight[rows] = vectors.to(table.weight)
        self._finish(table)

    def forward(
        self,
        characters: Tensor,
        bigrams: Optional[Tensor] = None,
        words: Optional[Words] = None,
        word_ids: Optional[Tensor] = None,
        contextual: Optional[Tensor] = None,
    ) -> Tensor:
        """Embed a batch.

        characters (torch.Tensor): int64 [B, N], 0 for padding.
        bigrams (Optional[torch.Tensor]): int64 [B, N]; where the model has bigrams.
        words (Optional[Words]): The U distinct words of the batch.
        word_ids (Optional[torch.Tensor]): int64 [B, M], 0 for padding, else 1 + the number of the distinct word.
        contextual (Optional[torch.Tensor]): float [B, N, C]; where the model has contextual vectors.
        RETURNS (torch.Tensor): float [B, N + M, H], characters first.
        """
        inputs = [self.characters(self._drop_tokens(characters))]
        if self.bigrams is not None:
            if bigrams is None:
                raise ValueError("The model was made with bigrams, but got none.")
            inputs.append(self.bigrams(self._drop_tokens(bigrams)))
        if self.contextual_width:
            if contextual is None or contextual.shape[-1] != self.contextual_width:
                got = "none" if contextual is None else f"{contextual.shape[-1]} values"
                raise ValueError(
                    f"The model needs contextual vectors of {self.contextual_width} values, but got {got}."
                )
            inputs.append(contextual)
        lattice = self.project_characters(self._drop_before(self.character_dropout, torch.cat(inputs, dim=-1)))
        if self.words is not None and self.project_words is not None and words is not None and word_ids is not None:
            vectors = self.words(self._drop_words(words))
            if self.normalize:
                vectors = F.normalize(vectors, dim=-1, eps=1e-12)
            embedded = F.embedding(word_ids, vectors)
            lattice = torch.cat((lattice, self.project_words(self._drop_before(self.word_dropout, embedded))), dim=1)
        return self.drop_at("after_projection", lattice)

    def drop_at(self, place: str, lattice: Tensor) -> Tensor:
        """RETURNS (torch.Tensor): The lattice, with dropout if this is its place."""
        return self.character_dropout(lattice) if self.dropout_place == place else lattice

    def _drop_before(self, dropout: nn.Dropout, vectors: Tensor) -> Tensor:
        return dropout(vectors) if self.dropout_place == "before_projection" else vectors

    def _drop_tokens(self, ids: Tensor) -> Tensor:
        if not self.training or not self.token_dropout:
            return ids
        dropped = (torch.rand(ids.shape, device=ids.device) < self.token_dropout) & (ids != PADDING)
        return ids.masked_fill(dropped, UNKNOWN)

    def _drop_words(self, words: Words) -> Words:
        if not self.training or not self.token_dropout:
            return words
        kept = torch.rand(words.known.shape, device=words.known.device) >= self.token_dropout
        return words._replace(known=words.known & kept, tuned=words.tuned.masked_fill(~kept, -1))

    def _finish(self, table: nn.Embedding) -> None:
        """Rows of length 1 where asked for, and padding all zero."""
        with torch.no_grad():
            if self.normalize:
                table.weight.copy_(F.normalize(table.weight, dim=-1, eps=1e-12))
            table.weight[PADDING] = 0
