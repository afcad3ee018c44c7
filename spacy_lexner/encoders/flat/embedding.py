"""The input of FLAT: characters with their bigrams and context, and words, in one lattice of equal vectors."""

from dataclasses import replace
from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..shared.character_tables import TokenVectors, drop_tokens, unit_length
from ..shared.words import Words, WordVectors
from .options import Embedding, Positions
from .positions import PositionEncoding


class LatticeEmbedding(nn.Module):
    """Embed characters and words and project both to the hidden width, each by a matrix of its own.

    A character is its own vector beside that of the bigram that begins with it and that of a contextual encoder, in
    models that have these.
    """

    def __init__(
        self,
        width: int,
        *,
        n_characters: int,
        n_fixed_characters: int = 0,
        character_width: int = 50,
        n_bigrams: int = 0,
        n_fixed_bigrams: int = 0,
        bigram_width: int = 50,
        word_width: int = 50,
        n_tuned_words: int = 0,
        n_labels: int = 0,
        contextual_width: int = 0,
        options: Embedding = Embedding(),  # noqa: B008 (frozen)
    ) -> None:
        """Create the embedding, with the hidden width H.

        n_characters, n_fixed_characters, n_bigrams, n_fixed_bigrams (int): Rows of the tables, see `TokenVectors`.
        character_width, bigram_width, word_width, contextual_width (int): Widths of the vectors. No bigrams, words or
            contextual vectors: `n_bigrams`, `word_width`, `contextual_width` = 0.
        n_tuned_words (int): Rows of the table of fine-tuned words.
        n_labels (int): Labels of words that have a vector.
        """
        super().__init__()
        self.normalize = options.normalize
        self.normalize_contextual = options.normalize_contextual
        self.token_dropout = options.token_dropout
        self.dropout_place = options.dropout_place
        self.characters = TokenVectors(n_characters, character_width, n_fixed_characters)
        self.bigrams = TokenVectors(n_bigrams, bigram_width, n_fixed_bigrams) if n_bigrams else None
        self.words = WordVectors(word_width, n_tuned_words, n_labels) if word_width else None
        if self.words is not None:
            nn.init.zeros_(self.words.by_length)  # like all that is unknown
        self.contextual_width = contextual_width
        n_inputs = character_width + (bigram_width if n_bigrams else 0) + contextual_width
        self.project_characters = nn.Linear(n_inputs, width)
        self.project_words = nn.Linear(word_width, width) if word_width else None
        self.character_dropout = nn.Dropout(options.character_dropout)
        self.word_dropout = nn.Dropout(options.word_dropout)
        for projection in (self.project_characters, self.project_words):
            if projection is not None:
                nn.init.xavier_uniform_(projection.weight)
        self.normalize_tables()

    def normalize_tables(self) -> None:
        """Give the vectors of characters, bigrams and fine-tuned words length 1, where the model wants that."""
        if not self.normalize:
            return
        for table in (self.characters, self.bigrams):
            if table is not None:
                table.normalize()
        if self.words is not None:
            with torch.no_grad():
                self.words.tuned.copy_(unit_length(self.words.tuned))

    def forward(
        self,
        characters: Tensor,
        bigrams: Optional[Tensor] = None,
        words: Optional[Words] = None,
        word_ids: Optional[Tensor] = None,
        contextual: Optional[Tensor] = None,
    ) -> Tensor:
        """Embed a batch: float [B, N + M, H], characters first. For the arguments see `FlatBatch`; `contextual`, float
        [B, N, C], is given if the model has contextual vectors."""
        inputs = [self.characters(self._drop(characters))]
        if self.bigrams is not None:
            assert bigrams is not None
            inputs.append(self.bigrams(self._drop(bigrams)))
        if self.contextual_width:
            if contextual is None or contextual.shape[-1] != self.contextual_width:
                got = "none" if contextual is None else f"{contextual.shape[-1]} values"
                raise ValueError(
                    f"The model needs contextual vectors of {self.contextual_width} values, but got {got}."
                )
            inputs.append(unit_length(contextual) if self.normalize_contextual else contextual)
        joined = self.drop("before_projection", torch.cat(inputs, dim=-1), self.character_dropout)
        lattice = self.project_characters(joined)
        if self.words is not None and self.project_words is not None and words is not None and word_ids is not None:
            if self.normalize:
                words = words._replace(vectors=unit_length(words.vectors))
            embedded = F.embedding(word_ids, self.words(self._drop_words(words)))
            embedded = self.drop("before_projection", embedded, self.word_dropout)
            lattice = torch.cat((lattice, self.project_words(embedded)), dim=1)
        return self.drop("after_projection", lattice, self.character_dropout)

    def drop(self, place: str, vectors: Tensor, dropout: nn.Dropout) -> Tensor:
        """Apply a dropout to vectors, if this is its place."""
        return dropout(vectors) if self.dropout_place == place else vectors

    def _drop(self, ids: Tensor) -> Tensor:
        return drop_tokens(ids, self.token_dropout) if self.training else ids

    def _drop_words(self, words: Words) -> Words:
        if not self.training or not self.token_dropout:
            return words
        kept = torch.rand(words.known.shape, device=words.known.device) >= self.token_dropout
        labels = None if words.labels is None else words.labels.masked_fill(~kept.unsqueeze(-1), 0)
        return words._replace(known=words.known & kept, tuned=words.tuned.masked_fill(~kept, -1), labels=labels)


class AbsolutePositions(nn.Module):
    """Show each token of a lattice where its span lies.

    With x a token's vector, h and t the encodings of its first and last position, L a linear layer and F a perceptron
    of two layers with a leaky ReLU between them:

    | name | result |
    |---|---|
    | `add` | x + h + t |
    | `concat` | L [x; h; t] |
    | `nonlinear_add` | x + F [h; t] |
    | `nonlinear_concat` | L [x; F [h; t]] |
    | `add_nonlinear` | F (x + h + t) |
    | `concat_nonlinear` | F [x; h; t] |
    """

    def __init__(self, width: int, options: Positions) -> None:
        super().__init__()
        self.fusion = fusion = options.absolute
        self.encoding = PositionEncoding(width, replace(options, offset=0), n_tables=2, lowest=0)
        self.position: nn.Module = nn.Identity()
        self.output: nn.Module = nn.Identity()
        if fusion in ("nonlinear_add", "nonlinear_concat"):
            self.position = _perceptron(2 * width, width)
        if fusion in ("concat", "nonlinear_concat"):
            self.output = nn.Linear((2 if fusion == "nonlinear_concat" else 3) * width, width)
        elif fusion in ("add_nonlinear", "concat_nonlinear"):
            self.output = _perceptron((1 if fusion == "add_nonlinear" else 3) * width, width)

    def forward(self, vectors: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """RETURNS (torch.Tensor): The vectors, float [B, L, H], with the positions of their half-open spans."""
        head, tail = self.encoding(starts, 0), self.encoding(ends - 1, 1)
        if self.fusion in ("add", "add_nonlinear"):
            return self.output(vectors + head + tail)
        positions = self.position(torch.cat((head, tail), dim=-1))
        if self.fusion == "nonlinear_add":
            return vectors + positions
        return self.output(torch.cat((vectors, positions), dim=-1))


def _perceptron(n_in: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(n_in, width), nn.LeakyReLU(), nn.Linear(width, width))
