"""The settings of a SoftLexicon, and its construction when a pipeline is initialised."""

from dataclasses import dataclass
from typing import ClassVar, Sequence

import numpy as np
from spacy.tokens import Doc
from torch import nn

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.blocks import Block
from ..shared.character_options import CharacterOptions
from ..shared.character_tables import CharacterTables
from ..shared.lexicon_options import LabelOptions
from ..shared.read_as import choose_normalization
from ..shared.shim import ModuleShim
from ..shared.training_sample import take_sample
from ..shared.words import WordsFrom
from .model import Network, SoftLexicon
from .word_sets import count_words


@dataclass(frozen=True)
class SoftLexiconSetup(Block):
    """The settings of a SoftLexicon, see `build_soft_lexicon_v1`. They are only used for its initialisation."""

    block = "SoftLexicon"
    least: ClassVar = {"width": 1, "layers": 1, "smoothing": 0}
    shares: ClassVar = ("dropout", "token_dropout")

    width: int = 256
    network: Network = "lstm"
    layers: int = 1
    words: WordsFrom = "finetuned"
    smoothing: float = 1.0
    dropout: float = 0.5
    token_dropout: float = 0.0
    embedding: CharacterOptions = CharacterOptions()  # noqa: RUF009 (frozen)
    lexicon: LabelOptions = LabelOptions()  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network == "lstm" and self.width % 2:
            raise ValueError(f"width = {self.width} is odd: each direction of the LSTM has half of it.")

    def build(self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts, matcher: Matcher) -> SoftLexicon:
        """Build the module; for the arguments see `FlatSetup.build`."""
        if not texts.n_docs:
            take_sample(sample, texts, "SoftLexicon", "its vocabulary and word counts")
        lexicon, options = matcher.lexicon, self.embedding
        read = CharacterTables.read(options, texts.texts, choose_normalization(options.read_as, lexicon))
        hashes, counts = count_words(matcher, texts.texts)  # of words outside longer ones
        tuned = hashes if self.words == "finetuned" else np.zeros(0, "u8")
        labels = self.lexicon.label_names(lexicon)
        tables = {
            **read.sizes(),
            "word_width": lexicon.dim or options.vector_width,
            "n_tuned_words": len(tuned),
            "n_labels": len(labels),
            "normalize": options.normalize,
            "token_dropout": self.token_dropout,
        }
        settings = {
            "width": self.width,
            "network": self.network,
            "layers": self.layers,
            "dropout": self.dropout,
            "tables": tables,
            "counts": {"n_words": len(hashes), "smoothing": self.smoothing},
        }
        known = {"vocab": read.vocab, "lexicon_width": lexicon.dim, "labels": labels}
        module = shim.initialize({"module": settings, **known})
        assert isinstance(module, SoftLexicon)
        embedding = module.embedding
        read.load(embedding.characters, embedding.bigrams)
        nn.init.zeros_(embedding.words.by_length)  # words without a vector contribute nothing
        embedding.words.start_from(lexicon, tuned)
        embedding.normalize_tables()
        module.counts.start_from(hashes, counts)
        return module
