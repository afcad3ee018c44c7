"""Words added to the output of an encoder: the baseline BERT + Word of the LEBERT paper."""

from typing import Any, Dict, NamedTuple, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..shared.word_attention import WordAttention
from ..shared.words import Words, WordVectors, check_words


class WordBatch(NamedTuple):
    """A padded batch of B texts of up to L tokens."""

    tokens: Tensor  # int64 [B, L], the vector of each token; anything in the padding
    lengths: Tensor  # int64 [B], tokens per text, at least 1, on the CPU
    slots: Tensor  # int64 [B, L, W], each token's candidate words: 0 empty, u the u-th word
    words: Words  # the U distinct words
    kept: Tensor  # int64 [K], which of the B * L vectors are returned


class WordBiLSTM(nn.Module):
    """Concatenate token vectors with their attended candidate words (see WordAttention) and run a bidirectional LSTM.

    width (int): Width H of the token vectors.
    word_width (int): Width D of the word vectors.
    hidden_width (int): Width of each direction of the LSTM.
    n_tuned (int): Number of fine-tuned words.
    n_labels (int): Number of labels of words that have a vector.
    dropout (float): Dropout on the transformed words, on the LSTM's input and on its output.
    empty (str): What a token without words receives, see WordAttention.
    """

    def __init__(
        self,
        width: int,
        word_width: int,
        hidden_width: int,
        *,
        n_tuned: int = 0,
        n_labels: int = 0,
        dropout: float = 0.5,
        empty: str = "zero",
    ) -> None:
        super().__init__()
        self.words = WordVectors(word_width, n_tuned, n_labels)
        self.attention = WordAttention(width, word_width, dropout=dropout, empty=empty)
        self.lstm = nn.LSTM(2 * width, hidden_width, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batches: Sequence[WordBatch], vectors: Tensor) -> Tensor:
        """RETURNS (Tensor): The kept vectors of all batches, in order, float [K, 2 * hidden_width], from the vectors of
        all tokens, float [T, H]. Each batch has its own length."""
        return torch.cat([self._run(batch, vectors).flatten(0, 1)[batch.kept] for batch in batches])

    def _run(self, batch: WordBatch, vectors: Tensor) -> Tensor:
        tokens = vectors[batch.tokens]
        attended = self.attention.attend(tokens, self.words(batch.words), batch.slots)
        inputs = self.dropout(torch.cat((tokens, attended), dim=-1))
        packed = pack_padded_sequence(inputs, batch.lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.dropout(outputs)


def build_word_bilstm(settings: Dict[str, Any]) -> WordBiLSTM:
    """Build a module with random weights from plain JSON: its arguments under "module"."""
    check_words(settings)
    return WordBiLSTM(**settings["module"])
