"""What the two heads of a tagger share: the search for paths, the frame of the loss, refused spans."""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from thinc.types import Floats1d, Floats2d
from thinc.util import torch2xp
from torch import Tensor

from . import crf
from .crf import Problem
from .spans.span_rules import SpanRules
from .spans.tag_scheme import Bools2d, Ints1d, TagSpan, span_tags
from .tag_search import Outputs, TagSearch, make_problem, take_docs

NORMALIZATIONS = ("mean", "sum", "token")


@dataclass(frozen=True)
class TaggerHead:
    """Loss, decoding and span scores of a tagger, as functions of the model's output.

    `outputs` are the emissions of each Doc, [n_tokens, n_tags], and the transitions, [n_tags + 1, n_tags + 1], whose
    last row scores starts and whose last column ends. `allowed` holds for each Doc the tags that a token may have,
    Boolean [n_tokens, n_tags]: all probabilities are relative to the legal paths through these.

    normalization (str): Divide the loss of a batch by its sentences ("mean"), its tokens ("token") or nothing ("sum").
    """

    normalization: str = "mean"

    def __post_init__(self) -> None:
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(f"normalization is {self.normalization!r}; expected one of {', '.join(NORMALIZATIONS)}.")

    def loss(
        self,
        outputs: Outputs,
        allowed: Sequence[Bools2d],
        gold: Sequence[Bools2d],
        refused: Sequence[Sequence[TagSpan]],
    ) -> Tuple[float, Outputs]:
        """Loss of a batch and its gradient.

        gold (Sequence[Bools2d]): The annotation: of the allowed tags, those that are right.
        refused (Sequence[Sequence[TagSpan]]): For each Doc, spans known to be wrong; each adds -log(1 - p(span)).
        RETURNS (Tuple[float, Outputs]): The loss, and its gradient in the shape of the outputs.
        """
        batch = _differentiable(make_problem(outputs, allowed))
        total = self.sentence_losses(batch, _stack(gold, batch)).sum() + _refusals(batch, refused)
        total = total / self._divisor(batch.lengths)
        d_emissions, d_transitions = torch.autograd.grad(
            total, (batch.emissions, batch.transitions), allow_unused=True, materialize_grads=True
        )
        d_docs: List[Any] = [torch2xp(part) for part in torch.split(d_emissions.float(), batch.lengths)]
        return total.item(), (d_docs, cast(Floats2d, torch2xp(d_transitions.float())))

    def sentence_losses(self, batch: Problem, gold: Tensor) -> Tensor:
        """RETURNS (Tensor): The loss of each sentence, or of any other parts that sum to the same."""
        raise NotImplementedError

    def search(
        self, outputs: Outputs, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> TagSearch:
        """Look for paths.

        rules (Optional[Sequence[SpanRules]]): The rules about the spans of each Doc.
        RETURNS (TagSearch): Gives the best path of each Doc, the best few, and probabilities of spans.
        """
        return TagSearch(outputs, allowed, rules)

    def decode(self, outputs: Outputs, allowed: Sequence[Bools2d]) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The best legal path of each Doc. Raises NoPathError where there is none."""
        return self.search(outputs, allowed).best()

    def span_scores(
        self, outputs: Outputs, allowed: Sequence[Bools2d], spans: Sequence[Sequence[TagSpan]]
    ) -> List[Floats1d]:
        """RETURNS (List[Floats1d]): For each span the probability, between 0 and 1, that a path spells exactly it."""
        return self.search(outputs, allowed).span_scores(spans)

    def _divisor(self, lengths: Sequence[int]) -> int:
        if self.normalization == "sum":
            return 1
        return max(1, sum(lengths) if self.normalization == "token" else sum(map(bool, lengths)))


def _differentiable(problem: Problem) -> Problem:
    emissions, transitions = problem.emissions.double(), problem.transitions.double()
    return problem._replace(emissions=emissions.requires_grad_(), transitions=transitions.requires_grad_())


def _stack(masks: Sequence[Bools2d], batch: Problem) -> Tensor:
    return torch.from_numpy(np.concatenate(masks)).to(batch.allowed.device) & batch.allowed


def _refusals(batch: Problem, refused: Sequence[Sequence[TagSpan]]) -> Tensor:
    """Sum of -log(1 - p) over refused spans; p is the weight of the paths that spell the span, among all allowed."""
    spans = [span for found in refused for span in found]
    if not spans:
        return batch.emissions.new_zeros(())
    batch = take_docs(batch, [i for i, found in enumerate(refused) for _ in found])
    starts = np.cumsum(batch.lengths) - batch.lengths
    rows = np.concatenate([np.arange(start + span.start, start + span.end) for start, span in zip(starts, spans)])
    tokens, tags = (torch.from_numpy(part) for part in (rows, np.concatenate([span_tags(span) for span in spans])))
    spelled = batch.allowed.clone()
    spelled[tokens] = False
    spelled[tokens, tags] = batch.allowed[tokens, tags]
    return refusal_loss(log_share(batch, spelled)).sum()


def refusal_loss(log_p: Tensor) -> Tensor:
    """RETURNS (Tensor): -log(1 - p) of spans that are known to be wrong, from the logarithms of their probabilities."""
    # The loss of a span that is certain is not finite: the value stops at 1 - p = 1e-12, the gradient goes on.
    log_p = log_p - (log_p + 1e-12).clamp(min=0).detach()
    return -torch.log(-torch.expm1(log_p))


def log_share(batch: Problem, subset: Tensor) -> Tensor:
    """Logarithm of the probability that the path stays within a part of what is allowed; 0, exactly, if that is all.

    subset (Tensor): Boolean, [n_tokens, n_tags].
    RETURNS (Tensor): [n_sequences].
    """
    log_z = crf.log_partition(
        torch.cat([batch.emissions, batch.emissions]),
        batch.transitions,
        torch.cat([subset, batch.allowed]),
        batch.legal,
        batch.lengths * 2,
    )
    part, whole = log_z.chunk(2)
    return part - whole
