"""Which paths of tags the output of a tagger speaks for: the best one, the best few, the probabilities of spans."""

from math import exp
from typing import Any, List, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np
import torch
from thinc.types import Floats1d, Floats2d
from thinc.util import xp2torch
from torch import Tensor

from . import crf, crf_windows
from .crf import Problem
from .crf_k_best import k_best
from .likely_spans import LikelySpan, find_likely_spans
from .spans.span_rules import NEVER, SpanRules, Unfolded, unfold
from .spans.span_states import States
from .spans.tag_scheme import Bools2d, Ints1d, NoPathError, TagSpan, legal_moves, span_tags

Outputs = Tuple[List[Floats2d], Floats2d]


class Reading(NamedTuple):
    """One path, and the logarithm of its probability among all that are allowed."""

    log_probability: float
    tags: Ints1d

    @property
    def probability(self) -> float:
        """RETURNS (float): Its probability; 0 if it is too small for a number, as in long texts."""
        return exp(self.log_probability)


class Group(Protocol):
    """Docs that are searched together.

    docs (List[int]): Their numbers in the batch.
    problem (Problem): The search, in tags or in states that refine these.
    margin (int): How many rows each Doc has before its first token, and as many behind its last one.
    meanings (Ints1d): The tag that each state means, -1 for one that no token has.
    """

    @property
    def docs(self) -> List[int]: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def margin(self) -> int: ...
    @property
    def meanings(self) -> Ints1d: ...

    def tags(self, path: Tensor) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): A path of the group as tags, for each Doc."""

    def runs(self, i: int, span: TagSpan) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The ways to spell a span in the Doc at that place in the group."""


class _Group(NamedTuple):
    """Docs that are searched in tags, or in the states of their rules."""

    docs: List[int]
    problem: Problem
    states: Optional[States] = None
    texts: Sequence[Unfolded] = ()
    margin: int = 0

    @property
    def meanings(self) -> Ints1d:
        return np.arange(self.problem.emissions.shape[1]) if self.states is None else self.states.tags

    def tags(self, path: Tensor) -> List[Ints1d]:
        return np.split(self.meanings[path.cpu().numpy()], np.cumsum(self.problem.lengths)[:-1])

    def runs(self, i: int, span: TagSpan) -> List[Ints1d]:
        return self.texts[i].runs(span) if self.texts else [span_tags(span)]


class TagSearch:
    """The search for paths in a batch. The allowed paths of a Doc are the legal ones through the tags that its tokens
    may have, under its rules; probabilities are relative to them.

    outputs (Tuple[List[Floats2d], Floats2d]): The emissions of each Doc, and the transitions.
    allowed (Sequence[Bools2d]): The tags that the tokens of each Doc may have.
    rules (Optional[Sequence[SpanRules]]): The rules about its spans. What is forced must be among what is allowed.
    """

    def __init__(
        self, outputs: Outputs, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> None:
        self.n_docs = len(allowed)
        under_rules = [i for i, decreed in enumerate(rules or ()) if decreed]
        free = [i for i in range(self.n_docs) if i not in set(under_rules)]
        self._groups: List[Group] = []
        if free:
            self._groups.append(_Group(free, make_problem(*_select(outputs, allowed, free))))
        if under_rules and rules is not None:
            group = _select(outputs, allowed, under_rules)
            self._groups.append(_refine(under_rules, *group, [rules[i] for i in under_rules]))

    def best(self) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The tags of the best path of each Doc. Raises NoPathError where there is none."""
        paths: List[Any] = [None] * self.n_docs
        without: List[int] = []
        for group in self._groups:
            path, found = crf_windows.viterbi(*group.problem)
            without += [doc for doc, ok in zip(group.docs, found) if not ok]
            for doc, tags in zip(group.docs, group.tags(path)):
                paths[doc] = tags
        if without:
            raise NoPathError(sorted(without))
        return paths

    def readings(self, k: int) -> List[List[Reading]]:
        """Find the best paths, exactly. A Doc is searched in one piece, in memory that grows with its length.

        k (int): How many, at least 1.
        RETURNS (List[List[Reading]]): For each Doc at most k readings, the most probable first.
        """
        readings: List[List[Reading]] = [[] for _ in range(self.n_docs)]
        for group in self._groups:
            problem = group.problem._replace(
                emissions=group.problem.emissions.double(), transitions=group.problem.transitions.double()
            )
            paths, scores = k_best(*problem, k)
            log_z = crf.log_partition(*problem)
            log_p = (scores - log_z.unsqueeze(1)).clamp(max=0.0).cpu().numpy()
            for rank in range(k):
                for doc, p, tags in zip(group.docs, log_p[:, rank].tolist(), group.tags(paths[:, rank])):
                    if p > NEVER:
                        readings[doc].append(Reading(p, tags))
        return readings

    def span_scores(self, spans: Sequence[Sequence[TagSpan]]) -> List[Floats1d]:
        """RETURNS (List[Floats1d]): For each span the probability, between 0 and 1, that a path spells exactly it."""
        scores: List[Any] = [np.zeros(len(found)) for found in spans]
        for group in self._groups:
            places: List[Tuple[int, int]] = []  # Doc and span of each run
            tokens: List[np.ndarray] = []
            states: List[Ints1d] = []
            wanted = [i for i, doc in enumerate(group.docs) if spans[doc]]
            start = 0
            for i in wanted:
                first = start + group.margin
                for j, span in enumerate(spans[group.docs[i]]):
                    for run in group.runs(i, span):
                        places.append((group.docs[i], j))
                        tokens.append(np.arange(first + span.start, first + span.end))
                        states.append(run)
                start += group.problem.lengths[i]
            if places:
                found = _run_probabilities(take_docs(group.problem, wanted), tokens, states)
                for (doc, j), p in zip(places, found):
                    scores[doc][j] = min(scores[doc][j] + p, 1.0)
        return scores

    def likely_spans(self, bound: float) -> List[List[LikelySpan]]:
        """Find the spans with at least some probability.

        bound (float): The probability, above 0.
        RETURNS (List[List[LikelySpan]]): The spans of each Doc, ordered, with their probabilities.
        """
        likely: List[List[LikelySpan]] = [[] for _ in range(self.n_docs)]
        for group in self._groups:
            starts = np.cumsum(group.problem.lengths) - group.problem.lengths
            given = crf_windows.conditionals(*group.problem)
            for span, p in find_likely_spans(given, group.meanings, bound):
                i = int(np.searchsorted(starts, span.start, "right")) - 1
                first = int(starts[i]) + group.margin
                own = TagSpan(span.start - first, span.end - first, span.label)
                likely[group.docs[i]].append(LikelySpan(own, p))
        return likely


def make_problem(outputs: Outputs, allowed: Sequence[Bools2d]) -> Problem:
    """RETURNS (Problem): The search for legal paths through the tags that tokens may have, of at least one Doc."""
    emissions, transitions = torch.cat([xp2torch(matrix) for matrix in outputs[0]]), xp2torch(outputs[1])
    legal = torch.from_numpy(legal_moves(emissions.shape[1]).copy()).to(emissions.device)
    mask = torch.from_numpy(np.concatenate(allowed)).to(emissions.device)
    return Problem(emissions, transitions, mask, legal, [len(matrix) for matrix in outputs[0]])


def take_docs(problem: Problem, docs: Sequence[int]) -> Problem:
    """RETURNS (Problem): The search in these Docs of a batch, at least one; one may be taken several times."""
    emissions, allowed = torch.split(problem.emissions, problem.lengths), torch.split(problem.allowed, problem.lengths)
    return problem._replace(
        emissions=torch.cat([emissions[i] for i in docs]),
        allowed=torch.cat([allowed[i] for i in docs]),
        lengths=[problem.lengths[i] for i in docs],
    )


def _select(outputs: Outputs, allowed: Sequence[Bools2d], docs: Sequence[int]) -> Tuple[Outputs, List[Bools2d]]:
    return ([outputs[0][i] for i in docs], outputs[1]), [allowed[i] for i in docs]


def _refine(docs: List[int], outputs: Outputs, allowed: List[Bools2d], rules: List[SpanRules]) -> _Group:
    """RETURNS (_Group): The search for paths under rules: that for legal paths of states."""
    problem = make_problem(outputs, allowed)
    states, texts = unfold(allowed, rules)
    device = problem.emissions.device
    columns = torch.from_numpy(states.scored).to(device)
    edges = torch.cat([columns, columns.new_tensor([problem.emissions.shape[1]])])  # the start and the end are last
    starts = np.cumsum(problem.lengths) - problem.lengths
    tokens = np.concatenate([text.tokens + start for text, start in zip(texts, starts)])
    places = [torch.from_numpy(part).to(device) for part in (tokens, np.concatenate([text.states for text in texts]))]
    weights = torch.from_numpy(np.concatenate([text.weights for text in texts])).to(device)
    refined = Problem(
        problem.emissions.double()[:, columns].index_put(tuple(places), weights, accumulate=True),
        problem.transitions.double()[edges][:, edges],
        torch.from_numpy(np.concatenate([text.allowed for text in texts])).to(device),
        torch.from_numpy(states.legal.copy()).to(device),
        problem.lengths,
    )
    return _Group(docs, refined, states, texts)


def _run_probabilities(problem: Problem, tokens: List[np.ndarray], states: List[Ints1d]) -> List[float]:
    """RETURNS (List[float]): The probability of each run of states on consecutive tokens."""
    device = problem.emissions.device
    rows, columns = (torch.from_numpy(np.concatenate(part)).to(device) for part in (tokens, states))
    return crf_windows.segment_log_probs(*problem, rows, columns, [len(run) for run in states]).exp().tolist()
