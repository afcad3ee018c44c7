"""Four ways to regularise a tagger with a CRF, as a callback: `spacy train --code scripts/regularize.py
--initialize.after_init '{"@callbacks":"study.regularize.v1","label_smoothing":0.1}'`.

They change training alone: pipelines that were trained with them load without this file.
"""

# Annotations are no strings here: a data class in a file that `--code` imports could not read them.
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, List, Tuple

import numpy as np
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from torch import Tensor
from torch.nn import functional as F

from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.tagging.crf import Trellis, log_partition
from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.posterior import OFF, forward_backward
from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.tag_scheme import OUTSIDE, TagScheme, TagSpan, span_tags
from spacy_lexner.tagging.tagger import Tagger
from spacy_lexner.tensors.convert import numpy_of, tensor_of

TABLES = ("embedding.characters.", "embedding.bigrams.", "embedding.words.tuned")


@dataclass(frozen=True)
class RegularizedHead(CRFHead):
    """A CRF's head whose loss has further terms. Texts may come twice, see `twice`."""

    label_smoothing: float = 0.0
    boundary_smoothing: float = 0.0
    consistency: float = 0.0
    batch: List[Any] = field(default_factory=list)  # the last `allowed`, `gold` and `incorrect`

    def loss(self, outputs: TaggerOutput, *batch: Any) -> Tuple[float, TaggerOutput]:
        self.batch[:] = batch
        times = len(outputs.emissions) // max(1, len(batch[0]))
        return super().loss(outputs, *(list(own) * times for own in batch))

    def losses(self, trellis: Trellis, gold: Tensor) -> Tensor:
        terms = [(1 - self.label_smoothing) * super().losses(trellis, gold).sum()]
        if self.label_smoothing or self.consistency:
            log_p = forward_backward(trellis).log_p
            possible = log_p > OFF / 2
            if self.label_smoothing:
                terms.append(self.label_smoothing * spread_loss(log_p, possible, trellis.allowed, gold))
            if self.consistency:
                terms.append(self.consistency * divergence(*log_p.where(possible, 0.0).chunk(2)))
        if self.boundary_smoothing:
            terms.append(self.boundary_smoothing * moved_border_loss(trellis, gold))
        return torch.stack(terms)


def spread_loss(log_p: Tensor, possible: Tensor, allowed: Tensor, gold: Tensor) -> Tensor:
    """The mean of -log p over the possible tags of each token, summed over those that are annotated (Szegedy et al.
    2016), p being exact marginal probabilities."""
    spread = -log_p.masked_fill(~possible, 0.0).sum(1) / possible.sum(1)
    return spread.masked_fill((gold == allowed).all(1), 0.0).sum()


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """The mean of both Kullback-Leibler divergences between the marginals of a text read twice, with different dropout
    (R-Drop, Liang et al. 2021), summed over tokens; arguments are logs."""
    return 0.5 * ((first.exp() - second.exp()) * (first - second)).sum()


def moved_border_loss(trellis: Trellis, gold: Tensor) -> Tensor:
    """How much the annotated path scores above those in which one border of one entity is moved by one token, the mean
    for each entity. Added to -log p, with a weight, it gives these paths that share of the target, as boundary
    smoothing does (Zhu and Li 2022)."""
    ends = np.cumsum(trellis.lengths)[:-1]
    tags, known = numpy_of(gold.int().argmax(1)), numpy_of(gold.sum(1) == 1)
    texts, paths, shares = [], [], []
    parts = (np.split(rows, ends) for rows in (tags, numpy_of(trellis.allowed), known))
    for i, (own, allowed, is_known) in enumerate(zip(*parts)):
        moved, weights = moved_borders(own, allowed) if is_known.all() else ([], [])
        if moved:
            texts += [i] * (len(moved) + 1)
            paths += [own, *moved]
            shares += [sum(weights), *(-weight for weight in weights)]
    if not paths:
        return trellis.emissions.new_zeros(())
    one_each = F.one_hot(tensor_of(np.concatenate(paths), gold.device), gold.shape[1]).bool()
    scores = log_partition(trellis.take(texts)._replace(allowed=one_each))
    return (scores * scores.new_tensor(shares)).sum()


def moved_borders(tags: np.ndarray, allowed: np.ndarray) -> Tuple[List[np.ndarray], List[float]]:
    """RETURNS (Tuple[List[np.ndarray], List[float]]): The paths in which one border of one entity is moved by one
    token, and their weights, which sum to 1 for each entity that has any."""
    paths: List[np.ndarray] = []
    weights: List[float] = []
    for start, end, label in TagScheme(()).decode(tags):
        own = []
        for low, high in ((start - 1, end), (start + 1, end), (start, end - 1), (start, end + 1)):
            added = [*range(low, start), *range(end, high)]
            if low < high and low >= 0 and high <= len(tags) and (tags[added] == OUTSIDE).all():
                path = tags.copy()
                path[start:end] = OUTSIDE
                path[low:high] = span_tags(TagSpan(low, high, label))
                if allowed[np.arange(len(path)), path].all():
                    own.append(path)
        paths += own
        weights += [1 / len(own) for _ in own]
    return paths, weights


ForwardT = Callable[[Tagger, List[Doc], bool], Tuple[TaggerOutput, Callable[[TaggerOutput], Any]]]


def twice(forward: ForwardT) -> ForwardT:
    """RETURNS (Callable): The forward function, which in training reads every text twice."""
    return lambda model, docs, is_train: forward(model, [*docs, *docs] if is_train else docs, is_train)


def adversarial(forward: ForwardT, head: RegularizedHead, distance: float) -> ForwardT:
    """RETURNS (Callable): The forward function, whose gradients in training also come from a second pass in which the
    tables of vectors are moved in the direction in which the loss rises (FGM, Miyato et al. 2017)."""

    def run(model: Tagger, docs: List[Doc], is_train: bool) -> Any:
        outputs, backprop = forward(model, docs, is_train)

        def backprop_both(d_outputs: TaggerOutput) -> Any:
            d_docs = backprop(d_outputs)
            with moved_tables(model, distance):
                moved, backprop_moved = forward(model, docs, True)
                backprop_moved(head.loss(moved, *head.batch)[1])
            return d_docs

        return outputs, backprop_both

    return run


@contextmanager
def moved_tables(model: Tagger, distance: float) -> Iterator[None]:
    """Move the tables of an encoder along their gradients, each by a distance, for a while."""
    modules = [shim.module for node in model.walk() for shim in node.shims if isinstance(shim, ModuleShim)]
    named = [pair for module in modules for pair in module.named_parameters()]
    kept: List[Tuple[Tensor, Tensor]] = []
    for name, table in named:
        if name.startswith(TABLES) and table.grad is not None:
            norm = table.grad.norm()
            if norm > 0:
                kept.append((table.data, table.data.clone()))
                table.data.add_(table.grad, alpha=float(distance / norm))
    try:
        yield
    finally:
        for data, before in kept:
            data.copy_(before)


@spacy.registry.callbacks("study.regularize.v1")
def create_regularizer(
    component: str = "lex_ner",
    label_smoothing: float = 0.0,
    boundary_smoothing: float = 0.0,
    consistency: float = 0.0,
    distance: float = 0.0,
) -> Callable[[Language], Language]:
    """Create a callback that changes how a `lex_ner` with a CRF trains.

    component (str): Its name.
    label_smoothing (float): Share of the target spread evenly over all possible tags of each token.
    boundary_smoothing (float): Share of the target for paths in which one border of an entity is moved by one token.
    consistency (float): Weight of the divergence between two passes with different dropout; 0 for one pass.
    distance (float): Distance by which vectors are moved for the adversarial pass; 0 for none.
    RETURNS (Callable[[Language], Language]): The callback.
    """

    def regularize(nlp: Language) -> Language:
        model: Any = nlp.get_pipe(component).model
        known = model.attrs["head"]
        if type(known) is not CRFHead:
            raise ValueError(f"The head of {component} is {known!r}; expected that of spacy-lexner.CRFTagger.v1.")
        head = RegularizedHead(**vars(known), **shares)
        model.attrs["head"] = head
        if consistency:
            model._func = twice(model._func)
        if distance:
            model._func = adversarial(model._func, head, distance)
        return nlp

    shares = {"label_smoothing": label_smoothing, "boundary_smoothing": boundary_smoothing, "consistency": consistency}
    return regularize
