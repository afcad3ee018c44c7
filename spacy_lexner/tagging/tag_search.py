"""The search for paths of tags in the output of a tagger: the best one, the k best, the probabilities of spans.

Docs under rules about spans are searched in states that refine the tags (see `spans.refine`), the others in the tags
themselves, by the same algorithms.
"""

from typing import Any, Callable, List, NamedTuple, Optional, Sequence

import numpy as np
import torch
from thinc.types import Floats1d, Floats2d
from thinc.util import get_torch_default_device
from torch import Tensor

from ..tensors.convert import numpy_of, tensor_of
from . import crf, crf_windows
from .crf import NEVER, Marginals, Trellis
from .spans.head import Path, ScoredSpan, TaggerOutput
from .spans.refine import RefinedDoc, refine
from .spans.span_rules import SpanRules
from .spans.states import States, tag_states
from .spans.tag_scheme import BEGIN, END, SINGLE, Bools2d, Ints1d, NoPathError, TagSpan, span_tags


def make_trellis(emissions: Tensor, transitions: Tensor, states: States, allowed: Sequence[Bools2d]) -> Trellis:
    """Make the trellis of a batch, in float64, differentiable in `emissions`, [n_rows, n_tags], and `transitions`,
    [n_tags + 1, n_tags + 1]. `allowed` masks the tags of each Doc's tokens, or the states that `states` refine."""
    device, n_tags = emissions.device, emissions.shape[1]
    emissions, transitions = emissions.double(), transitions.double()
    if len(states.scored) != n_tags:
        scored = tensor_of(states.scored, device)
        edges = torch.cat([scored, scored.new_tensor([n_tags])])  # the start and the end come last
        emissions, transitions = emissions[:, scored], transitions[edges][:, edges]
    rows = [states.rows(mask) for mask in allowed]
    mask, legal = (tensor_of(array, device) for array in (np.concatenate(rows), states.legal.copy()))
    return Trellis(emissions, transitions, mask, legal, [len(mask) for mask in rows])


class _Group(NamedTuple):
    """Docs that are searched together; `texts` is empty where none has rules."""

    docs: List[int]
    trellis: Trellis
    states: States
    texts: Sequence[RefinedDoc]

    def tags(self, path: Tensor) -> List[Ints1d]:
        """For each Doc the tags of its tokens."""
        rows = np.split(self.states.tags[numpy_of(path)], np.cumsum(self.trellis.lengths)[:-1])
        return [tags[self.states.margin : len(tags) - self.states.margin] for tags in rows]

    def runs(self, i: int, span: TagSpan) -> List[Ints1d]:
        """The runs of states that spell a span of Doc number `i` of the group."""
        coarse = self.texts[i].runs(span) if self.texts else [span_tags(span)]
        return [run for coarse_run in coarse for run in self.states.runs(coarse_run)]


class TagSearch:
    """The search for paths in a batch, see `spans.head.PathSearch`. Spans that `rules` force must be among the
    `allowed` tags; `to_states` gives the states to search in, given those that rules need."""

    def __init__(
        self,
        outputs: TaggerOutput,
        allowed: Sequence[Bools2d],
        rules: Optional[Sequence[SpanRules]] = None,
        to_states: Callable[[States], States] = lambda states: states,
    ) -> None:
        self.n_docs = len(allowed)
        self._groups: List[_Group] = []
        rules = [SpanRules()] * self.n_docs if rules is None else rules
        for under_rules in (False, True):
            if docs := [i for i, own in enumerate(rules) if bool(own) is under_rules]:
                masks = [allowed[i] for i in docs]
                texts: List[RefinedDoc] = []
                states = tag_states(masks[0].shape[1])
                if under_rules:
                    states, texts = refine(masks, [rules[i] for i in docs])
                    masks = [text.allowed for text in texts]
                states = to_states(states)
                device = get_torch_default_device()
                emissions = torch.cat([tensor_of(outputs[0][i], device) for i in docs])
                trellis = make_trellis(emissions, tensor_of(outputs[1], device), states, masks)
                self._groups.append(_Group(docs, _add_weights(trellis, states, texts), states, texts))

    def best(self) -> List[Ints1d]:
        paths: List[Any] = [None] * self.n_docs
        failed: List[int] = []
        for group in self._groups:
            path, found = crf_windows.viterbi(group.trellis)
            failed += [doc for doc, ok in zip(group.docs, found) if not ok]
            for doc, tags in zip(group.docs, group.tags(path)):
                paths[doc] = tags
        if failed:
            raise NoPathError(sorted(failed))
        return paths

    def k_best(self, k: int) -> List[List[Path]]:
        paths: List[List[Path]] = [[] for _ in range(self.n_docs)]
        for group in self._groups:
            tags, scores = crf.k_best(group.trellis, k)
            log_z = crf.log_partition(group.trellis)
            log_p = numpy_of((scores - log_z.unsqueeze(1)).clamp(max=0.0))
            for rank in range(k):
                for doc, p, path in zip(group.docs, log_p[:, rank].tolist(), group.tags(tags[:, rank])):
                    if p > NEVER:
                        paths[doc].append(Path(p, path))
        return paths

    def span_scores(self, spans: Sequence[Sequence[TagSpan]]) -> List[Floats1d]:
        scores: List[Any] = [np.zeros(len(own)) for own in spans]
        for group in self._groups:
            rows: List[np.ndarray] = []
            runs: List[Ints1d] = []
            scored: List[Any] = []  # Doc and span of each run of states
            searched = [i for i, doc in enumerate(group.docs) if spans[doc]]
            first = group.states.margin
            for i in searched:
                for j, span in enumerate(spans[group.docs[i]]):
                    for run in group.runs(i, span):
                        rows.append(np.arange(first + span.start, first + span.end))
                        runs.append(run)
                        scored.append((group.docs[i], j))
                first += group.trellis.lengths[i]
            if scored:
                marginals = crf_windows.marginals(group.trellis.take(searched))
                tokens, tags = (tensor_of(np.concatenate(part)) for part in (rows, runs))
                log_p = crf_windows.run_log_probs(marginals, tokens, tags, [len(run) for run in runs])
                for (doc, j), p in zip(scored, log_p.exp().tolist()):
                    scores[doc][j] = min(scores[doc][j] + p, 1.0)
        return scores

    def tag_scores(self) -> List[Floats2d]:
        found: List[Any] = [None] * self.n_docs
        for group in self._groups:
            n_tags, margin = int(group.states.tags.max()) + 1, group.states.margin
            unary = numpy_of(crf_windows.marginals(group.trellis).unary)
            means = (group.states.tags[:, None] == np.arange(n_tags)).astype(unary.dtype)
            rows = np.split(unary @ means, np.cumsum(group.trellis.lengths)[:-1])
            for doc, own in zip(group.docs, rows):
                found[doc] = own[margin : len(own) - margin]
        return found

    def spans_above(self, threshold: float) -> List[List[ScoredSpan]]:
        found: List[List[ScoredSpan]] = [[] for _ in range(self.n_docs)]
        for group in self._groups:
            starts = np.cumsum(group.trellis.lengths) - group.trellis.lengths
            marginals = crf_windows.marginals(group.trellis)
            for span, p in find_spans_above(marginals, group.states.tags, threshold):
                i = int(np.searchsorted(starts, span.start, "right")) - 1
                first = int(starts[i]) + group.states.margin
                found[group.docs[i]].append(ScoredSpan(TagSpan(span.start - first, span.end - first, span.label), p))
        return found


def _add_weights(trellis: Trellis, states: States, texts: Sequence[RefinedDoc]) -> Trellis:
    """Add the weights that rules give to single states."""
    if not texts:
        return trellis
    first, added = states.margin, np.zeros(trellis.emissions.shape)
    for text, length in zip(texts, trellis.lengths):
        for token, state, weight in text.weights:
            own = state if states.refines is None else np.flatnonzero(states.refines == state)
            added[first + token, own] += weight
        first += length
    return trellis._replace(emissions=trellis.emissions + tensor_of(added, trellis.emissions.device))


def find_spans_above(marginals: Marginals, tags: Ints1d, threshold: float) -> List[ScoredSpan]:
    """The spans with at least the probability `threshold` (above 0), in rows of the batch, ordered; none reaches from
    one text into the next. `tags`, [n_states], is the tag of each state in the order of TagScheme; -1 for none.

    The probability of a span is a product along its tokens, from the last one backwards: that the last tag ends it,
    times that its predecessor goes with it, and so on. It only falls while the span is followed back, so a search that
    stops below the threshold finds exactly the spans above it; at any token there are at most 1 / threshold. All states
    of the same tag are followed together.
    """
    unary, odds, weights, per_mass = marginals
    kinds = tensor_of(tags) - 1 - 4 * torch.arange(max(0, (int(tags.max()) + 3) // 4))[:, None]
    # Whether a state begins or ends a span of a label, [n_labels, n_states].
    opens, closes = (kinds == BEGIN) | (kinds == SINGLE), (kinds == END) | (kinds == SINGLE)
    last, label = torch.nonzero(unary @ closes.to(unary.dtype).T >= threshold, as_tuple=True)
    token, states = last, unary[last] * closes[label]
    found: List[ScoredSpan] = []
    while len(token):
        begun = (states * opens[label]).sum(1)
        done = begun >= threshold
        rows = torch.stack((token, last + 1, label), dim=1)[done].tolist()
        found += [ScoredSpan(TagSpan(*span), min(p, 1.0)) for span, p in zip(rows, begun[done].tolist())]
        states = states * ~opens[label]
        goes_on = (token > 0) & (states.sum(1) >= threshold)
        token, last, label, states = token[goes_on] - 1, last[goes_on], label[goes_on], states[goes_on]
        states = ((states * per_mass[token]) @ weights.T) * odds[token]
    return sorted(found)
