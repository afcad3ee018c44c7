"""The training objective of a bidirectional language model: the next word and the word before, by one softmax."""

from typing import Any, Dict, NamedTuple, Optional, Union

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from .word_softmax import AdaptiveSoftmax, FullSoftmax, SampledSoftmax

SOFTMAXES = ("full", "sampled", "adaptive")


class BiLMLosses(NamedTuple):
    """What the head reports of a batch: mean negative log probabilities of a word.

    forward (Tensor): Of the next word. With a sampled softmax, by the sample.
    backward (Tensor): Of the word before.
    exact (Optional[Tensor]): Of both together by the full softmax, where it was asked for.
    n_words (int): Words that either direction predicted.
    """

    forward: Tensor
    backward: Tensor
    exact: Optional[Tensor]
    n_words: int

    @property
    def total(self) -> Tensor:
        """RETURNS (Tensor): The mean of both directions, as in the original."""
        return (self.forward + self.backward) / 2


class BiLMHead(nn.Module):
    """Predicts each word from what either direction has read before it; begin and end of a sentence are words.

    width (int): Width of one direction.
    n_words (int): Size of the vocabulary, in the order of frequency.
    softmax (str): "full", "sampled" or "adaptive".
    n_samples (int): Words of a sample.
    cutoffs (Sequence[int]): Where the clusters of the adaptive softmax begin.
    dropout (float): Share of the language model's outputs that is dropped in training.
    """

    def __init__(self, *, width: int, n_words: int, softmax: str, n_samples: int, cutoffs: Any, dropout: float):
        super().__init__()
        self.dropout = dropout
        self.softmax: Union[FullSoftmax, AdaptiveSoftmax]
        if softmax == "full":
            self.softmax = FullSoftmax(width, n_words)
        elif softmax == "sampled":
            self.softmax = SampledSoftmax(width, n_words, n_samples)
        elif softmax == "adaptive":
            self.softmax = AdaptiveSoftmax(width, n_words, cutoffs)
        else:
            raise ValueError(f"Unknown softmax {softmax!r} of a language model. Choose one of {SOFTMAXES}.")

    def forward(
        self, *, output: Tensor, words: Tensor, begins: Tensor, ends: Tensor, exact: bool = False
    ) -> BiLMLosses:
        """output (Tensor): Last layer of the language model [n_rows, 2 * width], each sentence with begin and end.
        words (Tensor): The word of each row, int64 [n_rows].
        begins, ends (Tensor): Which rows are begins and ends, bool [n_rows].
        exact (bool): Also compute the full softmax.
        RETURNS (BiLMLosses): The losses.
        """
        before, after = dropout(output, self.dropout, self.training).chunk(2, dim=1)
        following, preceding = words[~begins], words[~ends]
        exact_loss = None
        if exact:
            with torch.no_grad():
                plain_before, plain_after = output.chunk(2, dim=1)
                losses = [
                    self.softmax.exact(plain_before[~ends], following),
                    self.softmax.exact(plain_after[~begins], preceding),
                ]
                exact_loss = torch.cat(losses).mean()
        return BiLMLosses(
            self.softmax(before[~ends], following).mean(),
            self.softmax(after[~begins], preceding).mean(),
            exact_loss,
            len(following),
        )


def build_bilm_head(settings: Dict[str, Any]) -> BiLMHead:
    """settings (Dict[str, Any]): The arguments of BiLMHead, and `vocabulary`, which it does not need.
    RETURNS (BiLMHead): The module, with random weights.
    """
    return BiLMHead(**{name: value for name, value in settings.items() if name != "vocabulary"})
