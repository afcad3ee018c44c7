"""What a pipe asks of its tagger: the model's output, and the head that turns it into losses, paths and probabilities.
Free of torch, so that pipes can name these types."""

from math import exp
from typing import List, NamedTuple, Optional, Protocol, Sequence, Tuple

from thinc.types import Floats1d, Floats2d

from .span_rules import SpanRules
from .tag_scheme import Bools2d, Ints1d, TagSpan


class TaggerOutput(NamedTuple):
    """The output of a tagger's model, and the gradient of the loss with respect to it.

    emissions (List[Floats2d]): For each Doc the scores of its tokens' tags, [n_tokens, n_tags].
    transitions (Floats2d): Scores of moves from tag to tag, [n_tags + 1, n_tags + 1]; the last row scores the first tag
        of a Doc, the last column its last tag.
    """

    emissions: List[Floats2d]
    transitions: Floats2d

    def take(self, docs: Sequence[int]) -> "TaggerOutput":
        """RETURNS (TaggerOutput): The output for some Docs of the batch."""
        return TaggerOutput([self.emissions[i] for i in docs], self.transitions)


class Path(NamedTuple):
    """A path of tags, and the logarithm of its probability among all allowed paths."""

    log_probability: float
    tags: Ints1d

    @property
    def probability(self) -> float:
        """RETURNS (float): Its probability; 0 where that is too small for a number, as in long texts."""
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
        """RETURNS (List[Floats1d]): For each span the probability, between 0 and 1, that a path spells exactly it."""

    def spans_above(self, threshold: float) -> List[List[ScoredSpan]]:
        """RETURNS (List[List[ScoredSpan]]): The spans of each Doc, ordered, that have at least this probability (above
        0), whether the best path spells them or not."""


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
        """Loss of a batch and its gradient.

        gold (Sequence[Bools2d]): The annotation: of the allowed tags, those that are right.
        incorrect (Sequence[Sequence[TagSpan]]): For each Doc spans known to be wrong; each adds -log(1 - p(span)).
        RETURNS (Tuple[float, TaggerOutput]): The loss and its gradient.
        """

    def search(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> PathSearch:
        """RETURNS (PathSearch): The search for paths, under rules about the spans of each Doc."""
