"""The options of encoders that read characters with vectors of their own, in the block `embedding` of their configs."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Optional

from .blocks import Block
from .read_as import ReadAs

Numbers = Literal["keep", "characters", "all"]


@dataclass(frozen=True)
class CharacterOptions(Block):
    """The block `embedding`: which characters and bigrams have vectors.

    character_vectors, bigram_vectors (Optional[str]): Files of vectors in the text format of word2vec, read when the
        pipeline is initialized and never again. None: random vectors.
    vector_width (int): Width of vectors that come neither from a file nor from the lexicon.
    bigrams (bool): A character has the vector of its bigram (itself and the next character) beside its own.
    keep_vectors (bool): Keep, untrained, the vectors in the files of what does not occur in the training texts.
    min_count, bigram_min_count (int): Characters and bigrams that are rarer in the training texts count as unknown.
    numbers (str): "characters" reads every digit as 0, "all" those in bigrams too, "keep" reads them as they are.
    read_as (str): How characters and bigrams are looked up: as they are "written"; as the "lexicon" of training
        compares words (case, width, script); in "simplified" script, for a model without words.
    normalize (bool): Vectors start with length 1. Those that are trained may change their length.
    """

    block = "embedding"
    least: ClassVar = {"vector_width": 1, "min_count": 1, "bigram_min_count": 1}
    character_vectors: Optional[str] = None
    bigram_vectors: Optional[str] = None
    vector_width: int = 50
    bigrams: bool = True
    keep_vectors: bool = True
    min_count: int = 1
    bigram_min_count: int = 1
    numbers: Numbers = "keep"
    read_as: ReadAs = "written"
    normalize: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bigram_vectors is not None and not self.bigrams:
            raise ValueError("embedding.bigram_vectors is given, but bigrams = false: leave one of them out.")
