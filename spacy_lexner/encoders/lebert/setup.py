"""The settings of a LEBERT, and its construction when a pipeline is initialised."""

from dataclasses import dataclass
from typing import Any, ClassVar, Dict, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc
from transformers import PretrainedConfig

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.bert_setup import BertSetup
from ..shared.bert_shaped import config_settings
from ..shared.lexicon_options import LabelOptions
from ..shared.read_as import NO_LEXICON
from ..shared.shim import ModuleShim
from ..shared.word_attention import Empty
from ..shared.words import WordsFrom, words_of_texts
from .model import LEBERT, check_adapter_layers


@dataclass(frozen=True)
class LEBERTSetup(BertSetup):
    """The settings of a LEBERT; see `build_lebert_v1`."""

    block = "LEBERT"
    least: ClassVar = {**BertSetup.least, "word_width": 1}

    adapter_layers: Tuple[int, ...]
    empty: Empty
    words: WordsFrom
    word_width: int
    lexicon: LabelOptions = LabelOptions()  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.read_as == "lexicon" and not self.adapter_layers:
            raise ValueError(NO_LEXICON)
        if self.checkpoint is None:
            check_adapter_layers(self.adapter_layers, self.depth)

    @property
    def reads_texts(self) -> bool:
        return self.words == "finetuned" and bool(self.adapter_layers)

    @property
    def reads_labels(self) -> bool:
        return self.lexicon.labels

    def build(
        self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts, matcher: Optional[Matcher]
    ) -> LEBERT:
        """Build the module in `shim`. `texts` are the training texts; if no component or callback has collected them,
        `sample`, a few Docs, replaces them. `matcher` is None without adapters."""
        self.take_sample(sample, texts, "LEBERT")
        wordpieces = self.wordpieces(texts, matcher)
        config = self.config(wordpieces)
        tuned = words_of_texts(matcher, texts.texts) if matcher is not None and self.reads_texts else np.zeros(0, "u8")
        lexicon_width = matcher.lexicon.dim if matcher is not None else 0
        labels = self.lexicon.label_names(matcher.lexicon) if matcher is not None else []
        module = shim.initialize(self.settings(config, wordpieces, lexicon_width, len(tuned), labels))
        assert isinstance(module, LEBERT)
        self.load_weights(module.encoder, config, wordpieces)
        if matcher is not None and module.words is not None:
            module.words.start_from(matcher.lexicon, tuned)
        return module

    def settings(
        self,
        config: PretrainedConfig,
        wordpieces: Dict[str, Any],
        lexicon_width: int,
        n_tuned: int,
        labels: Sequence[str] = (),
    ) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): Everything needed to build the module, as plain JSON. `lexicon_width` is the width
        of the lexicon's vectors, 0 if it has none; `labels` are those of its words."""
        return {
            "encoder": config_settings(config),
            "lebert": {
                "adapter_layers": list(self.adapter_layers),
                "word_width": lexicon_width or self.word_width,
                "n_tuned": n_tuned,
                "n_labels": len(labels),
                "dropout": self.dropout,
                "empty": self.empty,
                "gradient_checkpointing": self.gradient_checkpointing,
            },
            "wordpieces": wordpieces,
            "lexicon_width": lexicon_width,
            "labels": list(labels),
        }
