"""SoftLexicon (Ma et al. 2020, *Simplify the Usage of Lexicon in Chinese NER*): each character with the words around it
as four weighted sums, through a BiLSTM or a CNN."""

from typing import Any, Dict, Literal, NamedTuple, Optional, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ...tensors.convert import numpy_of, tensor_of
from ..shared.character_tables import TokenVectors, drop_tokens, unit_length
from ..shared.vocab import check_tables, load_vocab
from ..shared.windows import BATCH_COST, LSTM_BATCH_COST
from ..shared.words import Words, WordVectors, check_words, find_rows
from .word_sets import N_SETS

Network = Literal["lstm", "cnn"]


class SoftBatch(NamedTuple):
    """A batch of B windows with T characters in total, concatenated."""

    characters: Tensor  # int64 [T]
    bigrams: Optional[Tensor]  # int64 [T]
    words: Words  # the U distinct words
    members: Tensor  # int64 [N], the words of the sets: 0 no word, u the u-th
    weights: Tensor  # float [N]
    begins: Tensor  # int64 [4 T], the first member of each set
    lengths: Tensor  # int64 [B], characters of each window, the longest first, on the CPU
    places: Tensor  # int64 [T], the place of each character in a padded batch [B * L]
    kept: Tensor  # int64 [K], the characters whose vectors are returned


class WordCounts(nn.Module):
    """The frequencies of words in the training texts: z = count + `smoothing`."""

    hashes: Tensor
    counts: Tensor

    def __init__(self, n_words: int = 0, smoothing: float = 1.0) -> None:
        super().__init__()
        self.smoothing = float(smoothing)
        self.register_buffer("hashes", torch.zeros(n_words, dtype=torch.int64))
        self.register_buffer("counts", torch.zeros(n_words, dtype=torch.int64))

    def start_from(self, hashes: np.ndarray, counts: np.ndarray) -> None:
        """Set the counts, int64[n_words], of words, uint64[n_words], ascending."""
        self.hashes.copy_(tensor_of(hashes.view("i8")))
        self.counts.copy_(tensor_of(counts))

    def frequency(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): z of words, float64[n], given by hash, uint64[n]."""
        rows = find_rows(numpy_of(self.hashes).view("u8"), hashes)
        return np.append(numpy_of(self.counts), 0)[rows] + self.smoothing


class SoftEmbedding(nn.Module):
    """The vectors of characters and bigrams, and those of their word sets (equations 8 to 10).

    n_characters, n_fixed_characters, n_bigrams, n_fixed_bigrams (int): Rows of the tables, see `TokenVectors`; no
        bigrams: 0.
    character_width, bigram_width, word_width (int): Widths C, D, W of the vectors.
    n_tuned_words, n_labels (int): See `WordVectors`.
    normalize (bool): Scale vectors to length 1.
    token_dropout (float): Share of characters and bigrams that are replaced by the unknown one in training.
    """

    def __init__(
        self,
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
        normalize: bool = True,
        token_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.normalize, self.token_dropout = normalize, token_dropout
        self.characters = TokenVectors(n_characters, character_width, n_fixed_characters)
        self.bigrams = TokenVectors(n_bigrams, bigram_width, n_fixed_bigrams) if n_bigrams else None
        self.words = WordVectors(word_width, n_tuned_words, n_labels)
        self.width = character_width + (bigram_width if n_bigrams else 0) + N_SETS * word_width

    def normalize_tables(self) -> None:
        """Scale the vectors of characters, bigrams and fine-tuned words to length 1, if the model normalises."""
        if self.normalize:
            for table in (self.characters, self.bigrams):
                if table is not None:
                    table.normalize()
            with torch.no_grad():
                self.words.tuned.copy_(unit_length(self.words.tuned))

    def forward(self, batch: SoftBatch) -> Tensor:
        """RETURNS (torch.Tensor): float [T, C + D + 4 W]."""
        inputs = [self.characters(self._drop(batch.characters))]
        if self.bigrams is not None:
            assert batch.bigrams is not None
            inputs.append(self.bigrams(self._drop(batch.bigrams)))
        words = batch.words
        if self.normalize:
            words = words._replace(vectors=unit_length(words.vectors))
        vectors = self.words(words)
        weights = batch.weights.to(vectors.dtype)
        sets = F.embedding_bag(batch.members, vectors, batch.begins, mode="sum", per_sample_weights=weights)
        inputs.append(sets.view(len(batch.characters), -1))
        return torch.cat(inputs, dim=-1)

    def _drop(self, ids: Tensor) -> Tensor:
        return drop_tokens(ids, self.token_dropout) if self.training else ids


class Convolutions(nn.Module):
    """The CNN of the authors' code: a projection, then layers over each character and its two neighbours, with tanh."""

    def __init__(self, n_inputs: int, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(n_inputs, width)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """RETURNS (torch.Tensor): float [B, L, H], from float [B, L, F]; zero in the padding."""
        inside = torch.arange(inputs.shape[1]) < lengths.unsqueeze(1)
        mask = inside.to(inputs.device).unsqueeze(1)
        vectors = self.dropout(self.project(inputs)).tanh_().transpose(1, 2) * mask
        for layer in self.layers:
            vectors = self.dropout(layer(vectors)).tanh_() * mask
        return vectors.transpose(1, 2)


class SoftLexicon(nn.Module):
    """Vectors of characters and words through a network that sees the context.

    width (int): Width H of the result, even with an LSTM, which has half of it in each direction.
    network (str): "lstm" or "cnn".
    layers (int): Its layers.
    dropout (float): Dropout of its input, its output, and between layers.
    tables, counts (Dict[str, Any]): Arguments of SoftEmbedding and of WordCounts.
    """

    def __init__(
        self,
        width: int,
        network: Network,
        layers: int,
        dropout: float,
        tables: Dict[str, Any],
        counts: Dict[str, Any] = {},  # noqa: B006 (never changed)
    ) -> None:
        super().__init__()
        self.embedding = SoftEmbedding(**tables)
        self.counts = WordCounts(**counts)
        self.network: nn.Module = Convolutions(self.embedding.width, width, layers, dropout)
        if network == "lstm":
            between = dropout if layers > 1 else 0.0  # torch warns about dropout between layers if there is only one
            half = width // 2
            self.network = nn.LSTM(self.embedding.width, half, layers, True, True, between, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    @property
    def batch_cost(self) -> int:
        """RETURNS (int): What a batch costs, see `batch_by_padding`."""
        return LSTM_BATCH_COST if isinstance(self.network, nn.LSTM) else BATCH_COST

    def forward(self, batches: Sequence[SoftBatch]) -> Tensor:
        """RETURNS (torch.Tensor): float [K, H], the vectors kept, in the order of the batches."""
        return torch.cat([self.encode(batch).index_select(0, batch.kept) for batch in batches])

    def encode(self, batch: SoftBatch) -> Tensor:
        """RETURNS (torch.Tensor): The vectors of all characters of a batch, float [T, H]."""
        inputs = self.dropout(self.embedding(batch))
        shape = len(batch.lengths), int(batch.lengths[0]), -1
        padded = inputs.new_zeros(shape[0] * shape[1], inputs.shape[1]).index_copy(0, batch.places, inputs).view(shape)
        if isinstance(self.network, nn.LSTM):
            packed = pack_padded_sequence(padded, batch.lengths, batch_first=True)
            outputs = self.dropout(pad_packed_sequence(self.network(packed)[0], batch_first=True)[0])
        else:
            outputs = self.network(padded, batch.lengths)
        return outputs.flatten(0, 1).index_select(0, batch.places)


def build_soft_lexicon(settings: Dict[str, Any]) -> SoftLexicon:
    """Build a module with random weights from plain JSON: its arguments under "module". Raises ValueError if a "vocab"
    needs tables of other sizes."""
    check_words(settings)
    if "vocab" in settings:
        check_tables(load_vocab(settings["vocab"]), settings["module"]["tables"])
    return SoftLexicon(**settings["module"])
