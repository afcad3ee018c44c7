"""What a person sees of the pretraining of a language model: losses and perplexity."""

import math
from typing import Any, Dict, NamedTuple, Optional, cast

import torch

from .heads.bilm import BiLMLosses
from .heads.heads import HeadLosses
from .heads.masked_lm import HeadLoss
from .log import PretrainingLog

MAX_LOSS = 700.0  # its exponential is still a number


class _Parts(NamedTuple):
    forward: HeadLoss
    backward: HeadLoss
    exact: Optional[HeadLoss]


class BiLMLog(PretrainingLog):
    """As PretrainingLog. Perplexity is the exponential of the mean loss of both directions; where the loss comes from a
    sample, that of the full softmax over the last batch before a line."""

    def __init__(self, *, sampled: bool, **options: Any):
        """Create a log.

        sampled (bool): Whether losses come from a sample.
        options (Any): As for PretrainingLog.
        """
        super().__init__(**options)
        self.sampled = sampled

    def update_language_model(self, n_updates: int, losses: BiLMLosses, n_tokens: int) -> None:
        """Take in one update.

        n_updates (int): Updates so far, this one counted.
        losses (BiLMLosses): What the head reports.
        n_tokens (int): Tokens of its Docs.
        """
        parts = _Parts(
            _part(losses.forward, losses.n_words),
            _part(losses.backward, losses.n_words),
            None if losses.exact is None else _part(losses.exact, 2 * losses.n_words),
        )
        self.update(n_updates, cast(HeadLosses, parts), n_tokens)

    def is_due(self, n_updates: int) -> bool:
        """n_updates (int): Updates so far, with the next one.
        RETURNS (bool): Whether that one gives a line.
        """
        return bool(self.every) and n_updates % self.every == 0

    def _averages(self) -> Dict[str, float]:
        averages = super()._averages()
        losses = {name: averages[f"{name}_loss"] for name in _Parts._fields if f"{name}_loss" in averages}
        shown = {f"{name}_loss": loss for name, loss in losses.items() if name != "exact"}
        if "exact" in losses or not self.sampled:
            mean = losses["exact"] if "exact" in losses else (losses["forward"] + losses["backward"]) / 2
            shown["perplexity"] = round(math.exp(min(mean, MAX_LOSS)), 2)
        return {**shown, "tokens_per_second": averages["tokens_per_second"]}


def _part(loss: torch.Tensor, n_labels: int) -> HeadLoss:
    return HeadLoss(loss, torch.zeros((), dtype=torch.long), n_labels)
