"""The settings of a WordBiLSTM, and its construction when a pipeline is initialised."""

from dataclasses import dataclass
from typing import Sequence, get_args

import numpy as np
from spacy.tokens import Doc

from ...candidates.policy import POLICIES, Policy
from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher, SingleChars
from ..shared.lexicon_options import LabelOptions
from ..shared.shim import ModuleShim
from ..shared.training_sample import take_sample
from ..shared.word_attention import EMPTY
from ..shared.words import WordsFrom, words_of_texts
from .model import WordBiLSTM


@dataclass(frozen=True)
class WordBiLSTMSetup:
    """The settings of the layer; see `build_word_bilstm_v1`."""

    hidden_width: int
    words: WordsFrom
    word_width: int
    max_words: int
    policy: Policy
    single_chars: SingleChars
    empty: str
    dropout: float
    max_batch_tokens: int
    lexicon: LabelOptions = LabelOptions()  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        for name in ("hidden_width", "word_width", "max_words", "max_batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} is out of range: it must be at least 1.")
        for name, known in (("words", get_args(WordsFrom)), ("empty", EMPTY), ("policy", POLICIES)):
            if getattr(self, name) not in known:
                raise ValueError(f"Unknown {name} = {getattr(self, name)!r}. Choose one of {known}.")

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
