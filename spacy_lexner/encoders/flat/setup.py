"""The settings of a FLAT, and its construction when a pipeline is initialised."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Dict, List, Literal, Optional, Sequence

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.blocks import Block
from ..shared.character_tables import CharacterTables
from ..shared.lexicon_options import LabelOptions
from ..shared.read_as import NO_LEXICON, choose_normalization
from ..shared.shim import ModuleShim
from ..shared.training_sample import take_sample
from ..shared.words import words_of_texts
from .model import Flat, build_flat
from .options import Attention, Embedding, Positions, SubLayers

FlatWordsFrom = Literal["finetuned", "frozen", "none"]


@dataclass(frozen=True)
class FlatSetup(Block):
    """The settings of a FLAT, see `build_flat_v1`. They matter once, when it is initialized; the module is saved."""

    block = "FLAT"
    least: ClassVar = {"width": 1, "heads": 1, "layers": 1}

    width: int = 128
    heads: int = 8
    layers: int = 1
    words: FlatWordsFrom = "finetuned"
    embedding: Embedding = Embedding()  # noqa: RUF009 (frozen)
    positions: Positions = Positions()  # noqa: RUF009
    attention: Attention = Attention()  # noqa: RUF009
    sublayers: SubLayers = SubLayers()  # noqa: RUF009
    lexicon: LabelOptions = LabelOptions()  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedding.read_as == "lexicon" and self.words == "none":
            raise ValueError(f"embedding.{NO_LEXICON}")
        with torch.device("meta"):  # a wrong option shows now, not after the training texts have been read
            build_flat(self._settings({"n_characters": 2}))

    def build(
        self,
        shim: ModuleShim,
        sample: Sequence[Doc],
        texts: TrainingTexts,
        matcher: Optional[Matcher],
        contextual_width: int,
    ) -> Flat:
        """Build the module.

        shim (ModuleShim): Receives the module and its settings.
        sample (Sequence[Doc]): A few Docs, in case no training texts were collected.
        texts (TrainingTexts): The training texts, if a component or callback has shown them.
        matcher (Optional[Matcher]): The lexicon; None for a model without words.
        contextual_width (int): Width of the contextual vectors, 0 for none.
        """
        if not texts.n_docs:
            take_sample(sample, texts, "FLAT", "its vocabulary and its table of fine-tuned words")
        options = self.embedding
        normal = choose_normalization(options.read_as, None if matcher is None else matcher.lexicon)
        read = CharacterTables.read(options, texts.texts, normal)
        lexicon_width, tuned = 0, np.zeros(0, "u8")
        labels: List[str] = []
        if matcher is not None:
            lexicon_width, labels = matcher.lexicon.dim, self.lexicon.label_names(matcher.lexicon)
            tuned = words_of_texts(matcher, texts.texts) if self.words == "finetuned" else tuned
        tables = {
            **read.sizes(),
            "word_width": 0 if self.words == "none" else lexicon_width or options.vector_width,
            "n_tuned_words": len(tuned),
            "n_labels": len(labels),
            "contextual_width": contextual_width,
        }
        known = {"vocab": read.vocab, "lexicon_width": lexicon_width, "labels": labels}
        module = shim.initialize({**self._settings(tables), **known})
        assert isinstance(module, Flat)
        embedding = module.embedding
        read.load(embedding.characters, embedding.bigrams)
        if matcher is not None and embedding.words is not None:
            embedding.words.start_from(matcher.lexicon, tuned)
        embedding.normalize_tables()
        return module

    def _settings(self, tables: Dict[str, int]) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The settings for `build_flat`, as plain JSON."""
        settings = {name: value for name, value in asdict(self).items() if name not in ("words", "lexicon")}
        return {**settings, "tables": tables}
