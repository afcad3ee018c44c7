"""The options of encoders that read a lexicon, in the block `lexicon` of their configs."""

from dataclasses import dataclass
from typing import List

from thinc.api import Model

from ...candidates.lexicon_node import LexiconCandidates
from ...candidates.word_dropout import WordDropout
from ...lexicon.lexicon import Lexicon
from .blocks import Block


@dataclass(frozen=True)
class LexiconOptions(Block):
    """The block `lexicon` of encoders that read words.

    lexicon_dropout (float): Probability, in training, that a Doc lacks words: see WordDropout.
    """

    block = "lexicon"
    lexicon_dropout: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.dropout()

    def dropout(self) -> WordDropout:
        """RETURNS (WordDropout): What hides words in training."""
        return WordDropout(self.lexicon_dropout)

    def node(self) -> Model:
        """RETURNS (Model[List[Doc], List[Tuple[Candidates, Lexicon]]]): The node that finds the words of Docs."""
        return LexiconCandidates(self.dropout())


@dataclass(frozen=True)
class LabelOptions(LexiconOptions):
    """The block `lexicon` of encoders that also read the labels of words.

    labels (bool): Words have a vector for each of their labels, if any word of the lexicon has labels.
    """

    labels: bool = True

    def label_names(self, lexicon: Lexicon) -> List[str]:
        """RETURNS (List[str]): The labels that have a vector, in order."""
        return sorted(lexicon.distinct_labels()) if self.labels else []
