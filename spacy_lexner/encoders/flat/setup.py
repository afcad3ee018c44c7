"""What a FLAT is made of, and how it is built when a pipeline is initialized."""

import warnings
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Dict, List, Literal, Optional, Sequence, Tuple

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.blocks import Block
from ..shared.lexicon_options import LabelOptions
from ..shared.read_as import NO_LEXICON, choose_normalization
from ..shared.shim import ModuleShim
from ..shared.vector_file import read_vectors
from ..shared.words import words_of_texts
from .model import Flat, build_flat
from .options import Attention, Embedding, Positions, SubLayers
from .vocab import UNKNOWN, build_vocab, load_vocab

Keys = Tuple[List[str], List[str]]  # of characters and bigrams
WordsFrom = Literal["finetuned", "frozen", "none"]
NO_TEXTS = (
    "FLAT makes its vocabulary of the characters and bigrams of the training texts, and fine-tunes the words in them, "
    "but saw only a sample of {}; anything else is unknown to it. `lex_ner` shows it all texts. With another "
    'component, add to the config\n[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"'
)


@dataclass(frozen=True)
class FlatSetup(Block):
    """The settings of a FLAT, see `build_flat_v1`. They matter once, when it is initialized; the module is saved."""

    block = "FLAT"
    least: ClassVar = {"width": 1}

    width: int = 128
    heads: int = 8
    layers: int = 1
    words: WordsFrom = "finetuned"
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
            warnings.warn(NO_TEXTS.format(len(sample)), stacklevel=2)
            texts.add(sample)
        options = self.embedding
        normal = choose_normalization(options.read_as, None if matcher is None else matcher.lexicon)
        characters = read_vectors(options.character_vectors, "characters", options.vector_width, normal)
        bigrams = read_vectors(options.bigram_vectors, "bigrams", options.vector_width, normal)
        fixed: Keys = (characters.keys, bigrams.keys) if options.keep_vectors else ([], [])
        keys = build_vocab(texts.texts, options, *fixed, normal)
        vocab, lexicon_width, tuned = load_vocab(keys), 0, np.zeros(0, "u8")
        labels: List[str] = []
        if matcher is not None:
            lexicon_width, labels = matcher.lexicon.dim, self.lexicon.label_names(matcher.lexicon)
            tuned = words_of_texts(matcher, texts.texts) if self.words == "finetuned" else tuned
        tables = {
            "n_characters": vocab.n_characters + UNKNOWN + 1,
            "n_fixed_characters": vocab.n_fixed_characters,
            "character_width": characters.width,
            "n_bigrams": vocab.n_bigrams + UNKNOWN + 1 if options.bigrams else 0,
            "n_fixed_bigrams": vocab.n_fixed_bigrams,
            "bigram_width": bigrams.width,
            "word_width": 0 if self.words == "none" else lexicon_width or options.vector_width,
            "n_tuned_words": len(tuned),
            "n_labels": len(labels),
            "contextual_width": contextual_width,
        }
        read = {"vocab": keys, "lexicon_width": lexicon_width, "labels": labels}
        module = shim.initialize({**self._settings(tables), **read})
        assert isinstance(module, Flat)
        embedding = module.embedding
        for kind, table, given in (
            ("characters", embedding.characters, characters),
            ("bigrams", embedding.bigrams, bigrams),
        ):
            if table is not None:
                rows = vocab.rows(kind, given.keys)
                known = rows > UNKNOWN
                table.load(torch.from_numpy(rows[known]), torch.from_numpy(given.vectors[known]))
        if matcher is not None and embedding.words is not None:
            embedding.words.start_from(matcher.lexicon, tuned)
        embedding.normalize_tables()
        return module

    def _settings(self, tables: Dict[str, int]) -> Dict[str, Any]:
        """What `build_flat` takes."""
        settings = {name: value for name, value in asdict(self).items() if name not in ("words", "lexicon")}
        return {**settings, "tables": tables}
