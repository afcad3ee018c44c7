"""The probability of the next word: full, sampled (Jean et al. 2015) or adaptive softmax (Grave et al. 2017)."""

from math import log, sqrt
from typing import NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

SCORES_AT_ONCE = 1 << 24


class FullSoftmax(nn.Module):
    """Scores each of `n_words` words from vectors of `width`. Rows are processed in parts to bound memory."""

    def __init__(self, width: int, n_words: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_words, width))
        self.bias = nn.Parameter(torch.zeros(n_words))
        nn.init.normal_(self.weight, std=1 / sqrt(width))

    def forward(self, hidden: Tensor, words: Tensor) -> Tensor:
        """Predict words.

        hidden (Tensor): Shape [n_rows, width].
        words (Tensor): The right words, int64 [n_rows].
        RETURNS (Tensor): Negative log probabilities of the right words [n_rows].
        """
        return self.exact(hidden, words)

    def exact(self, hidden: Tensor, words: Tensor) -> Tensor:
        """As `forward`, never sampled."""
        part = max(1, SCORES_AT_ONCE // len(self.bias))
        losses = [
            checkpoint(self._losses, rows, right, use_reentrant=False)
            for rows, right in zip(hidden.split(part), words.split(part))
        ]
        return torch.cat(losses)

    def _losses(self, hidden: Tensor, words: Tensor) -> Tensor:
        return F.cross_entropy(F.linear(hidden, self.weight, self.bias).float(), words, reduction="none")


class SampledSoftmax(FullSoftmax):
    """In training, scores only the right word and a sample of `n_samples` distinct words, corrected by their
    probability of being sampled. Words must be in order of frequency, the most frequent first."""

    def __init__(self, width: int, n_words: int, n_samples: int):
        if not 0 < n_samples < n_words:
            raise ValueError(
                f"n_samples is {n_samples}; expected 1 to {n_words - 1} for a vocabulary of {n_words} words. For a "
                "small vocabulary use the full softmax."
            )
        super().__init__(width, n_words)
        self.n_samples = n_samples

    def forward(self, hidden: Tensor, words: Tensor) -> Tensor:
        """As FullSoftmax, but by a sample in training."""
        if not self.training:
            return self.exact(hidden, words)
        sample = sample_log_uniform(self.n_samples, len(self.bias), hidden.device)
        right = (hidden * self.weight[words]).sum(dim=1) + self.bias[words] - sample.log_expected(words)
        others = F.linear(hidden, self.weight[sample.words], self.bias[sample.words])
        others = others - sample.log_expected(sample.words)
        others = others.masked_fill(words.unsqueeze(1) == sample.words, float("-inf"))  # count the right word only once
        scores = torch.cat([right.unsqueeze(1), others], dim=1).float()
        return -torch.log_softmax(scores, dim=1)[:, 0]


class AdaptiveSoftmax(nn.Module):
    """torch's adaptive softmax: rare words in clusters with fewer dimensions. Words must be in order of frequency; the
    clusters of rarer words begin at the ascending `cutoffs`."""

    def __init__(self, width: int, n_words: int, cutoffs: Sequence[int]):
        super().__init__()
        if not cutoffs or list(cutoffs) != sorted(set(cutoffs)) or cutoffs[0] < 1 or cutoffs[-1] >= n_words:
            raise ValueError(
                f"cutoffs is {list(cutoffs)}; expected ascending numbers from 1 to {n_words - 1}, the last word."
            )
        if width < 4 ** len(cutoffs):
            raise ValueError(
                f"cutoffs is {list(cutoffs)}, too many for {width} dimensions: each cluster has a quarter of the "
                "dimensions of the one before."
            )
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(width, n_words, list(cutoffs))

    def forward(self, hidden: Tensor, words: Tensor) -> Tensor:
        """As FullSoftmax."""
        return -self.softmax(hidden.float(), words).output

    def exact(self, hidden: Tensor, words: Tensor) -> Tensor:
        """As FullSoftmax: nothing is sampled here."""
        return self(hidden, words)


class Sample(NamedTuple):
    """Distinct words, drawn until there are enough."""

    words: Tensor  # the words, int64 [n_samples]
    n_draws: int  # number of draws it took
    n_words: int  # size of the vocabulary

    def log_expected(self, words: Tensor) -> Tensor:
        """The log probability that each of `words` is in a sample of n_draws draws."""
        numbers = words.double()
        probability = torch.log1p(1 / (numbers + 1)) / log(self.n_words + 1)
        return (-torch.expm1(self.n_draws * torch.log1p(-probability))).log().float()


def sample_log_uniform(n_samples: int, n_words: int, device: Optional[torch.device] = None) -> Sample:
    """Draw distinct words, in order of their first draw, from a vocabulary in order of frequency. Word k has the
    probability log((k + 2) / (k + 1)) / log(n_words + 1), close to Zipf's law. `n_samples` must be less than
    `n_words`."""
    draws = torch.empty(0, dtype=torch.int64, device=device)
    while True:
        uniform = torch.rand(max(2 * n_samples, len(draws)), dtype=torch.float64, device=device)
        new = ((uniform * log(n_words + 1)).exp() - 1).long().clamp_(0, n_words - 1)
        draws = torch.cat([draws, new])
        words, first = _first_places(draws)
        if len(words) >= n_samples:
            return Sample(words[:n_samples], int(first[n_samples - 1]) + 1, n_words)


def _first_places(draws: Tensor) -> Tuple[Tensor, Tensor]:
    """The distinct values in order of first appearance, and the place of each."""
    words, numbers = torch.unique(draws, return_inverse=True)
    places = torch.arange(len(draws), device=draws.device)
    first = torch.full_like(words, len(draws)).scatter_reduce_(0, numbers, places, reduce="amin")
    first, order = first.sort()
    return words[order], first
