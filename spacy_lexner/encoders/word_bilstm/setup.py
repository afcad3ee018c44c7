"""The settings of a WordBiLSTM, and its construction when a pipeline is initialised."""

from dataclasses import dataclass
from typing import ClassVar, Sequence

import numpy as np
from spacy.tokens import Doc

from ...candidates.policy import Policy
from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher, SingleChars
from ..shared.blocks import Block
from ..shared.lexicon_options import LabelOptions
from ..shared.shim import ModuleShim
from ..shared.training_sample import take_sample
from ..shared.word_attention import Empty
from ..shared.words import WordsFrom, words_of_texts
from .model import WordBiLSTM


@dataclass(frozen=True)
class WordBiLSTMSetup(Block):
    """The settings of the layer; see `build_word_bilstm_v1`."""

    block = "WordBiLSTM"
    least: ClassVar = {"hidden_width": 1, "word_width": 1, "max_words": 1, "max_batch_tokens": 1}
    shares: ClassVar = ("dropout",)

    hidden_width: int
    words: WordsFrom
    word_width: int
    max_words: int
    policy: Policy
    single_chars: SingleChars
    empty: Empty
    dropout: float
    max_batch_tokens: int
    lexicon: LabelOptions = LabelOptions()  # noqa: RUF009 (frozen)

    def build(
        self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts, matcher: Matcher, width: int
    ) -> WordBiLSTM:
        """Build the module, as `LEBERTSetup.build` does, for token vectors of some width."""
        tuned = np.zeros(0, "u8")
        if self.words == "finetuned":
            if not texts.n_docs:
                remedy = 'set words = "frozen", or '
                take_sample(sample, texts, "WordBiLSTM", "its table of fine-tuned words", remedy)
            tuned = words_of_texts(matcher, texts.texts)
        labels = self.lexicon.label_names(matcher.lexicon)
        settings = {
            "width": width,
            "word_width": matcher.lexicon.dim or self.word_width,
            "hidden_width": self.hidden_width,
            "n_tuned": len(tuned),
            "n_labels": len(labels),
            "dropout": self.dropout,
            "empty": self.empty,
        }
        module = shim.initialize({"module": settings, "lexicon_width": matcher.lexicon.dim, "labels": labels})
        assert isinstance(module, WordBiLSTM)
        module.words.start_from(matcher.lexicon, tuned)
        return module
