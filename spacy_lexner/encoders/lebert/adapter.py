"""The lexicon adapter of LEBERT: candidate words enter between two layers of a transformer."""

from typing import List, Optional

from torch import Tensor, nn

from ..shared.word_attention import WordAttention


class LexiconAdapter(WordAttention):
    """Fuse every hidden vector with the words that cover its token (Liu et al. 2021, section 3.2, equation 7):
    LayerNorm(dropout(h + z)), with h the hidden vector and z what the words say (see WordAttention).

    hidden_width (int): Width H of the hidden vectors.
    word_width (int): Width D of the word vectors.
    dropout (float): Dropout on the transformed words and on the sum, as in the authors' code.
    layer_norm_eps (float): Added to the variance in the layer norm.
    empty (str): What a token without words receives, see WordAttention.
    initializer_range (float): Standard deviation of the initial weights.
    """

    def __init__(
        self,
        hidden_width: int,
        word_width: int,
        *,
        dropout: float = 0.1,
        layer_norm_eps: float = 1e-12,
        empty: str = "zero",
        initializer_range: float = 0.02,
    ) -> None:
        super().__init__(hidden_width, word_width, dropout=dropout, empty=empty, initializer_range=initializer_range)
        self.norm = nn.LayerNorm(hidden_width, eps=layer_norm_eps)

    def forward(self, hidden: Tensor, words: Tensor, slots: Tensor, record: Optional[List[Tensor]] = None) -> Tensor:
        """Fuse a padded batch with its candidate words.

        hidden (Tensor): Hidden vectors, float [B, L, H].
        words (Tensor): Vectors of the padding word (row 0) and of the U distinct words, float [1 + U, D].
        slots (Tensor): For every token the rows of its words, int64 [B, L, W] with W >= 1; 0 is an empty slot.
        record (Optional[List[Tensor]]): If given, the attention to the words, float [B, L, W], is appended to it.
        RETURNS (Tensor): The fused vectors, float [B, L, H].
        """
        return self.norm(self.dropout(hidden + self.attend(hidden, words, slots, record)))
