"""What the two heads of a tagger share: decoding under the BIOES constraint, span scores, refused spans."""

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple, cast

import numpy as np
import torch
from thinc.types import Floats1d, Floats2d
from thinc.util import torch2xp, xp2torch
from torch import Tensor

from ..modules import crf, crf_windows
from ..modules.crf import Problem
from .tag_scheme import Bools2d, Ints1d, TagSpan, legal_moves, span_tags

Outputs = Tuple[List[Floats2d], Floats2d]
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
        batch = _batch(outputs, allowed, gradient=True)
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

    def decode(self, outputs: Outputs, allowed: Sequence[Bools2d]) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The best legal path of each Doc."""
        batch = _batch(outputs, allowed)
        path, found = crf_windows.viterbi(*batch)
        if not all(found):
            bad = [i for i, ok in enumerate(found) if not ok]
            raise ValueError(
                f"Documents {bad} of the batch have no tag path of finite score: the model's output is not finite "
                "(weights damaged, or training diverged), or the constraints exclude every path."
            )
        return np.split(path.cpu().numpy(), np.cumsum(batch.lengths)[:-1])

    def span_scores(
        self, outputs: Outputs, allowed: Sequence[Bools2d], spans: Sequence[Sequence[TagSpan]]
    ) -> List[Floats1d]:
        """RETURNS (List[Floats1d]): For each span the probability, between 0 and 1, that a path spells exactly it."""
        docs = [i for i, found in enumerate(spans) if found]
        scores: List[Any] = [np.zeros(len(found)) for found in spans]
        if docs:
            batch = _batch(([outputs[0][i] for i in docs], outputs[1]), [allowed[i] for i in docs])
            found = [spans[i] for i in docs]
            log_probs = crf_windows.segment_log_probs(*batch, *_runs(found, batch)).clamp(max=0).exp().cpu().numpy()
            parts = np.split(log_probs, np.cumsum([len(part) for part in found])[:-1])
            for i, part in zip(docs, parts):
                scores[i] = part
        return scores

    def _divisor(self, lengths: Sequence[int]) -> int:
        if self.normalization == "sum":
            return 1
        return max(1, sum(lengths) if self.normalization == "token" else sum(map(bool, lengths)))


def _batch(outputs: Outputs, allowed: Sequence[Bools2d], gradient: bool = False) -> Problem:
    emissions, transitions = torch.cat([xp2torch(matrix) for matrix in outputs[0]]), xp2torch(outputs[1])
    if gradient:
        emissions, transitions = emissions.double().requires_grad_(), transitions.double().requires_grad_()
    legal = torch.from_numpy(legal_moves(emissions.shape[1]).copy()).to(emissions.device)
    mask = torch.from_numpy(np.concatenate(allowed)).to(emissions.device)
    return Problem(emissions, transitions, mask, legal, [len(matrix) for matrix in outputs[0]])


def _stack(masks: Sequence[Bools2d], batch: Problem) -> Tensor:
    return torch.from_numpy(np.concatenate(masks)).to(batch.allowed.device) & batch.allowed


def _select(batch: Problem, docs: Sequence[int]) -> Problem:
    """RETURNS (Problem): These sequences of a batch; one may be taken several times."""
    emissions, allowed = torch.split(batch.emissions, batch.lengths), torch.split(batch.allowed, batch.lengths)
    return batch._replace(
        emissions=torch.cat([emissions[i] for i in docs]),
        allowed=torch.cat([allowed[i] for i in docs]),
        lengths=[batch.lengths[i] for i in docs],
    )


def _runs(spans: Sequence[Sequence[TagSpan]], batch: Problem) -> Tuple[Tensor, Tensor, List[int]]:
    """The tokens and tags of all spans of a batch, and the number of tokens of each span."""
    starts = np.cumsum(batch.lengths) - batch.lengths
    flat = [(start, span) for start, found in zip(starts, spans) for span in found]
    tokens = np.concatenate([np.arange(start + span.start, start + span.end) for start, span in flat])
    tags = np.concatenate([span_tags(span) for _, span in flat])
    device = batch.emissions.device
    return torch.from_numpy(tokens).to(device), torch.from_numpy(tags).to(device), [s.end - s.start for _, s in flat]


def _refusals(batch: Problem, refused: Sequence[Sequence[TagSpan]]) -> Tensor:
    """Sum of -log(1 - p) over refused spans; p is the weight of the paths that spell the span, among all allowed."""
    spans = [[span] for found in refused for span in found]
    if not spans:
        return batch.emissions.new_zeros(())
    batch = _select(batch, [i for i, found in enumerate(refused) for _ in found])
    tokens, tags, _ = _runs(spans, batch)
    spelled = batch.allowed.clone()
    spelled[tokens] = False
    spelled[tokens, tags] = batch.allowed[tokens, tags]
    log_p = log_share(batch, spelled)
    # The loss of a span that is certain is not finite: the value stops at 1 - p = 1e-12, the gradient goes on.
    log_p = log_p - (log_p + 1e-12).clamp(min=0).detach()
    return -torch.log(-torch.expm1(log_p)).sum()


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
