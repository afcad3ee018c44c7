"""Head of a conditional random field as in NCRF++: any tag may follow any, [CLS] and [SEP] are part of the path."""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from thinc.types import Floats2d
from thinc.util import torch2xp, xp2torch
from torch import Tensor

from ..crf import Problem
from ..spans.span_rules import SpanRules
from ..spans.tag_scheme import Bools2d, TagSpan, legal_moves, span_tags
from ..tag_search import Outputs
from ..tagger_head import TaggerHead, log_share, refusal_loss
from .search import MARGIN, Chain, NCRFSearch, join, make_problem
from .tags import FRAME, ncrf_states


@dataclass(frozen=True)
class NCRFHead(TaggerHead):
    """Loss, decoding and span scores under the tag set of a published model. `outputs` are the emissions of each Doc,
    [n_tokens + 2, n_tags], with those of [CLS] and [SEP], and the transitions; `allowed` and `gold` are in the order of
    TagScheme, with the labels sorted, as in the other heads. The score of a span is the probability of all paths that
    are read as having it.

    normalization (str): See TaggerHead; the original sums.
    tag_names (Tuple[str, ...]): The tags, in the order of the emissions, without start and stop, which come last.
    """

    tag_names: Tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        ncrf_states(self.tag_names)  # raises where it is no tag set

    def search(
        self, outputs: Outputs, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> NCRFSearch:
        return NCRFSearch(outputs, allowed, ncrf_states(self.tag_names), rules)

    def loss(
        self,
        outputs: Outputs,
        allowed: Sequence[Bools2d],
        gold: Sequence[Bools2d],
        refused: Sequence[Sequence[TagSpan]],
    ) -> Tuple[float, Outputs]:
        emissions = [xp2torch(rows).double().requires_grad_() for rows in outputs[0]]
        transitions = xp2torch(outputs[1]).double().requires_grad_()
        docs = [i for i, mask in enumerate(allowed) if len(mask)]
        total = transitions.sum() * 0
        if docs:
            chain, parts = self._chain(allowed[docs[0]].shape[1]), [emissions[i] for i in docs]
            none = torch.zeros((), dtype=torch.float64, device=transitions.device)
            batch = make_problem(parts, transitions, chain, [allowed[i] for i in docs], none)
            right = batch.allowed & self._spelled(chain, [gold[i] for i in docs]).to(batch.allowed.device)
            total = total - log_share(batch, right).sum() + _refusals(batch, chain, [refused[i] for i in docs])
        total = total / self._divisor([len(mask) for mask in allowed])
        *d_rows, d_transitions = torch.autograd.grad(
            total, (*emissions, transitions), allow_unused=True, materialize_grads=True
        )
        d_docs: List[Any] = [torch2xp(rows.float()) for rows in d_rows]
        return total.item(), (d_docs, cast(Floats2d, torch2xp(d_transitions.float())))

    def sentence_losses(self, batch: Problem, gold: Tensor) -> Tensor:
        return -log_share(batch, gold)

    def _chain(self, n_tags: int) -> Chain:
        tags = np.arange(n_tags)
        return join(ncrf_states(self.tag_names), tags, tags, legal_moves(n_tags))

    def _spelled(self, chain: Chain, gold: Sequence[Bools2d]) -> Tensor:
        """RETURNS (Tensor): The states that spell the annotation, [n_rows, n_states]; all where it is missing."""
        frames, spells = chain.ruled == FRAME, ncrf_states(self.tag_names).spells[chain.own]
        masks = []
        for mask in gold:
            rows = np.tile(frames & spells, (len(mask) + 2 * MARGIN, 1))
            missing = mask.all(axis=1, keepdims=True)
            rows[MARGIN:-MARGIN] = mask[:, chain.ruled] & (spells | missing) & ~frames
            if not rows.any(axis=1).all():
                raise ValueError(
                    f"The tags {', '.join(self.tag_names)} cannot spell the annotation of a text: they lack one that "
                    "its entities, or the tokens outside of these, would need."
                )
            masks.append(rows)
        return torch.from_numpy(np.concatenate(masks))


def _refusals(batch: Problem, chain: Chain, refused: Sequence[Sequence[TagSpan]]) -> Tensor:
    total = batch.emissions.new_zeros(())
    start = MARGIN
    for spans, length in zip(refused, batch.lengths):
        for span in spans:
            spelled = batch.allowed.clone()
            means = chain.tags[None, :] == span_tags(span)[:, None]
            spelled[start + span.start : start + span.end] &= torch.from_numpy(means).to(spelled.device)
            total = total + refusal_loss(log_share(batch, spelled).sum())
        start += length
    return total
