"""The search for paths of an NCRF++ tagger, under rules about spans or not."""

from itertools import product
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np
import torch
from thinc.util import xp2torch
from torch import Tensor

from ..crf import Problem
from ..spans.span_rules import SpanRules, Unfolded, unfold
from ..spans.tag_scheme import Bools2d, Ints1d, TagSpan
from ..tag_search import Outputs, TagSearch
from .tags import FRAME, NCRFStates

MARGIN = 1  # [CLS] before the first token, and [SEP] behind the last


class Chain(NamedTuple):
    """States of tokens that know both what the tag set of NCRF++ says, and what rules about spans want to know; and
    those of [CLS] and [SEP].

    own (Ints1d): The state in terms of NCRFStates, [n_states].
    ruled (Ints1d): The state in terms of `span_rules`, [n_states]; FRAME for those of [CLS] and [SEP].
    tags (Ints1d): The tag that a state means, as in NCRFStates, [n_states].
    columns (Ints1d): The tag whose scores it has, [n_states].
    legal (Bools2d): The moves, [n_states + 1, n_states + 1].
    """

    own: Ints1d
    ruled: Ints1d
    tags: Ints1d
    columns: Ints1d
    legal: Bools2d


class NCRFGroup(NamedTuple):
    """Docs that are searched together; see `tag_search.Group`."""

    docs: List[int]
    problem: Problem
    chain: Chain
    texts: Sequence[Unfolded]
    margin: int = MARGIN

    @property
    def meanings(self) -> Ints1d:
        return self.chain.tags

    def tags(self, path: Tensor) -> List[Ints1d]:
        tags = self.meanings[path.cpu().numpy()]
        return [text[MARGIN:-MARGIN] for text in np.split(tags, np.cumsum(self.problem.lengths)[:-1])]

    def runs(self, i: int, span: TagSpan) -> List[Ints1d]:
        runs = []
        for ruled in self.texts[i].runs(span):
            choices = [np.flatnonzero(self.chain.ruled == state) for state in ruled]
            runs += [np.array(run) for run in product(*choices) if self._legal(run)]
        return runs

    def _legal(self, run: Sequence[np.integer]) -> bool:
        return bool(self.chain.legal[run[:-1], run[1:]].all())


class NCRFSearch(TagSearch):
    """The search for paths in a batch, see TagSearch. Every Doc has a row before its first token and one
    behind its last.

    outputs (Tuple[List[Floats2d], Floats2d]): The emissions of each Doc, [n_tokens + 2, n_tags], and the transitions.
    allowed (Sequence[Bools2d]): The tags of TagScheme that the tokens of each Doc may have.
    states (NCRFStates): The states of the tag set.
    rules (Optional[Sequence[SpanRules]]): The rules about the spans of each Doc.
    """

    def __init__(
        self,
        outputs: Outputs,
        allowed: Sequence[Bools2d],
        states: NCRFStates,
        rules: Optional[Sequence[SpanRules]] = None,
    ) -> None:
        self.n_docs = len(allowed)
        rules = [SpanRules()] * self.n_docs if rules is None else rules
        self._groups = []
        for decreed in (False, True):
            docs = [i for i in range(self.n_docs) if len(allowed[i]) and bool(rules[i]) is decreed]
            if docs:
                parts = [allowed[i] for i in docs], [rules[i] for i in docs]
                emissions = [xp2torch(outputs[0][i]) for i in docs]
                self._groups.append(_make_group(docs, emissions, xp2torch(outputs[1]), states, *parts))

    def best(self) -> List[Ints1d]:
        paths = super().best()
        return [np.zeros(0, dtype=np.int64) if path is None else path for path in paths]


def join(states: NCRFStates, scored: Ints1d, tags: Ints1d, legal: Bools2d) -> Chain:
    """Make the chain of those pairs of states that mean the same.

    states (NCRFStates): The states of the tag set.
    scored, tags, legal (Ints1d, Ints1d, Bools2d): Those that rules need, see `span_states.States`.
    RETURNS (Chain): The chain.
    """
    own, ruled = np.nonzero(states.tags[:, None] == scored[None, :])
    frames = np.flatnonzero(states.tags == FRAME)
    own, ruled = np.concatenate([own, frames]), np.concatenate([ruled, np.full(len(frames), FRAME)])
    # The last row and column of `legal` are the start and the end of a text: there stand [CLS] and [SEP].
    moves = states.legal[np.ix_(own, own)] & legal[np.ix_(ruled, ruled)]
    edges = np.zeros((len(own) + 1, len(own) + 1), dtype=bool)
    edges[:-1, :-1] = moves
    edges[-1, :-1], edges[:-1, -1] = states.legal[-1, own], states.legal[own, -1]
    meanings = np.where(ruled == FRAME, FRAME, np.append(tags, FRAME)[ruled])
    return Chain(own, ruled, meanings, states.columns[own], edges)


def make_problem(
    emissions: Sequence[Tensor], transitions: Tensor, chain: Chain, allowed: Sequence[Bools2d], weights: Tensor
) -> Problem:
    """Make the search for legal paths of states.

    emissions (Sequence[Tensor]): The emissions of each Doc, [n_tokens + 2, n_tags].
    transitions (Tensor): [n_tags + 1, n_tags + 1].
    chain (Chain): The states.
    allowed (Sequence[Bools2d]): The states that the tokens of each Doc may have, in terms of rules.
    weights (Tensor): What is added to the states of the rows, [n_rows, n_states].
    RETURNS (Problem): The search, differentiable in emissions and transitions.
    """
    columns = torch.from_numpy(chain.columns).to(transitions.device)
    edges = torch.cat([columns, columns.new_tensor([transitions.shape[0] - 1])])
    inside, frames = chain.ruled != FRAME, chain.ruled == FRAME
    masks = []
    for mask in allowed:
        rows = np.tile(frames, (len(mask) + 2 * MARGIN, 1))
        rows[MARGIN:-MARGIN] = mask[:, chain.ruled] & inside
        masks.append(rows)
    return Problem(
        torch.cat(list(emissions)).double()[:, columns] + weights,
        transitions.double()[edges][:, edges],
        torch.from_numpy(np.concatenate(masks)).to(transitions.device),
        torch.from_numpy(chain.legal).to(transitions.device),
        [len(rows) for rows in masks],
    )


def _make_group(
    docs: List[int],
    emissions: Sequence[Tensor],
    transitions: Tensor,
    states: NCRFStates,
    allowed: Sequence[Bools2d],
    rules: Sequence[SpanRules],
) -> NCRFGroup:
    refined, texts = unfold(allowed, rules)
    chain = join(states, refined.scored, refined.tags, refined.legal)
    weights = np.zeros((sum(len(rows) for rows in emissions), len(chain.own)))
    start = MARGIN
    for rows, text in zip(emissions, texts):
        for token, state, weight in zip(text.tokens, text.states, text.weights):
            weights[start + token, chain.ruled == state] += weight
        start += len(rows)
    added: Any = torch.from_numpy(weights).to(transitions.device)
    masks: List[Bools2d] = [text.allowed for text in texts]
    return NCRFGroup(docs, make_problem(emissions, transitions, chain, masks, added), chain, texts)
