"""The interface of pipe and tagger: the model's output, and the head that turns it into losses, paths, probabilities.
Free of torch, so that pipes can import these types."""

from math import exp
from typing import List, NamedTuple, Optional, Protocol, Sequence, Tuple

from thinc.types import Floats1d, Floats2d

from .span_rules import SpanRules
from .tag_scheme import Bools2d, Ints1d, TagSpan


class TaggerOutput(NamedTuple):
    """The output of a tagger's model, or the gradient of the loss with respect to it."""

    emissions: List[Floats2d]  # [n_tokens, n_tags] for each Doc, scores of its tokens' tags
    transitions: Floats2d  # [n_tags + 1, n_tags + 1], scores of moves, row to column; last row: start, last column: end

    def take(self, docs: Sequence[int]) -> "TaggerOutput":
        """The output for some Docs of the batch."""
        return TaggerOutput([self.emissions[i] for i in docs], self.transitions)


class Path(NamedTuple):
    """A path of tags, and the log of its probability among all allowed paths."""

    log_probability: float
    tags: Ints1d

    @property
    def probability(self) -> float:
        """RETURNS (float): The probability; 0 where it underflows, as in long texts."""
        return exp(self.log_probability)


class ScoredSpan(NamedTuple):
    """A span, and its probability."""

    span: TagSpan
    probability: float


class PathSearch(Protocol):
    """The search for paths in the output for a batch of Docs. The allowed paths of a Doc are the legal ones through the
    tags that its tokens may have, under its rules; probabilities are relative to these."""

    def best(self) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The tags of the best path of each Doc. Raises NoPathError where there is none."""

    def k_best(self, k: int) -> List[List[Path]]:
        """RETURNS (List[List[Path]]): The k best paths of each Doc (or all, if there are fewer), the most probable
        first. A Doc is searched in one piece, in memory that grows with its length."""

    def span_scores(self, spans: Sequence[Sequence[TagSpan]]) -> List[Floats1d]:
        """RETURNS (List[Floats1d]): For each span the probability, from 0 to 1, that a path spells exactly it."""

    def tag_scores(self) -> List[Floats2d]:
        """RETURNS (List[Floats2d]): The probabilities of the tags of each Doc's tokens, [n_tokens, n_tags]."""

    def spans_above(self, threshold: float) -> List[List[ScoredSpan]]:
        """RETURNS (List[List[ScoredSpan]]): The spans of each Doc, ordered, of at least this probability (above 0),
        whether in the best path or not."""


class TaggerHead(Protocol):
    """Loss and search of a tagger, as functions of the model's output and of the tags that tokens may have: for each
    Doc a mask, [n_tokens, n_tags]."""

    def loss(
        self,
        outputs: TaggerOutput,
        allowed: Sequence[Bools2d],
        gold: Sequence[Bools2d],
        incorrect: Sequence[Sequence[TagSpan]],
    ) -> Tuple[float, TaggerOutput]:
        """The loss of a batch, and its gradient. `gold` masks those of the allowed tags that are right; each span of
        `incorrect`, known to be wrong, adds -log(1 - p(span))."""

    def distil_loss(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], target: Sequence[Floats2d]
    ) -> Tuple[float, TaggerOutput]:
        """The divergence of the probabilities of tags from those of another model, [n_tokens, n_target_tags] for each
        Doc (see `PathSearch.tag_scores`), and its gradient. The other model may lack the last labels of this one: what
        it thinks to be outside may then have one of these."""

    def search(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> PathSearch:
        """RETURNS (PathSearch): The search for paths, under rules about the spans of each Doc."""
