"""What a FLAT is made of, and how it is built when a pipeline is initialised."""

import warnings
from dataclasses import asdict, dataclass
from typing import Any, Dict, Literal, Optional, Sequence, get_args

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.shim import ModuleShim
from ..shared.vector_file import Vectors, read_vectors
from ..shared.words import words_of_texts
from .embedding import TokenVectors
from .model import Flat, build_flat
from .options import Attention, Embedding, Positions, SubLayers
from .vocab import LatticeVocab, build_vocab, load_vocab

WordsFrom = Literal["finetuned", "frozen", "none"]


@dataclass(frozen=True)
class FlatSetup:
    """The settings of a FLAT. They matter once, when it is initialized; what is saved is the module itself.

    width (int): H, width of the result.
    heads (int): Number of attention heads.
    layers (int): Number of layers.
    words (str): "finetuned": the vectors of the words in the training texts are copied from the lexicon and trained;
        other words keep theirs. "frozen": all words keep the vectors of the lexicon. "none": a model without words.
    embedding, positions, attention, sublayers (Block): Options.
    """

    width: int = 128
    heads: int = 8
    layers: int = 1
    words: WordsFrom = "finetuned"
    embedding: Embedding = Embedding()  # noqa: RUF009 (frozen)
    positions: Positions = Positions()  # noqa: RUF009
    attention: Attention = Attention()  # noqa: RUF009
    sublayers: SubLayers = SubLayers()  # noqa: RUF009

    def __post_init__(self) -> None:
        if self.words not in get_args(WordsFrom):
            raise ValueError(f"Unknown words = {self.words!r}. Choose one of {get_args(WordsFrom)}.")
        if self.width < 1:
            raise ValueError(f"width = {self.width} is out of range: it must be at least 1.")
        with torch.device("meta"):  # a wrong option shows now, not after the training texts have been read
            build_flat(self._settings(LatticeVocab(*_NOTHING), 1, 1, 1, 0, 0))

    @property
    def reads_words(self) -> bool:
        """RETURNS (bool): Whether the model has words at all."""
        return self.words != "none"

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
        sample (Sequence[Doc]): A few Docs, for want of all training texts.
        texts (TrainingTexts): The training texts, if a component or callback has shown them.
        matcher (Optional[Matcher]): The lexicon; None for a model without words.
        contextual_width (int): Width of the contextual vectors, 0 for none.
        RETURNS (Flat): The module.
        """
        if not texts.n_docs:
            _warn_of_sample(len(sample))
            texts.add(sample)
        options = self.embedding
        random_width = options.vector_width
        characters = read_vectors(
            options.character_vectors, "characters", None if options.character_vectors else random_width
        )
        bigrams = read_vectors(options.bigram_vectors, "bigrams", None if options.bigram_vectors else random_width)
        keys = build_vocab(
            texts.texts,
            bigrams=options.bigrams,
            numbers=options.numbers,
            min_count=options.min_count,
            bigram_min_count=options.bigram_min_count,
            fixed_characters=characters.keys if options.keep_vectors else (),
            fixed_bigrams=bigrams.keys if options.keep_vectors else (),
        )
        vocab = load_vocab(keys)
        lexicon_width = matcher.lexicon.dim if matcher is not None else 0
        tuned = np.zeros(0, "u8")
        if matcher is not None and self.words == "finetuned":
            tuned = words_of_texts(matcher, texts.texts)
        settings = self._settings(
            vocab, characters.width, bigrams.width, lexicon_width or random_width, len(tuned), contextual_width
        )
        module = shim.initialize({**settings, "vocab": keys, "lexicon_width": lexicon_width})
        assert isinstance(module, Flat)
        embedding = module.embedding
        _load_vectors(embedding.characters, vocab, "characters", characters)
        if embedding.bigrams is not None:
            _load_vectors(embedding.bigrams, vocab, "bigrams", bigrams)
        if matcher is not None and embedding.words is not None:
            embedding.words.start_from(matcher.lexicon, tuned)
        embedding.normalize_tables()
        return module

    def _settings(
        self,
        vocab: LatticeVocab,
        character_width: int,
        bigram_width: int,
        word_width: int,
        n_tuned: int,
        contextual_width: int,
    ) -> Dict[str, Any]:
        n_special = 2  # padding and unknown
        return {
            "width": self.width,
            "heads": self.heads,
            "layers": self.layers,
            "tables": {
                "n_characters": vocab.n_characters + n_special,
                "n_fixed_characters": vocab.n_fixed_characters,
                "character_width": character_width,
                "n_bigrams": vocab.n_bigrams + n_special if self.embedding.bigrams else 0,
                "n_fixed_bigrams": vocab.n_fixed_bigrams,
                "bigram_width": bigram_width,
                "word_width": word_width if self.reads_words else 0,
                "n_tuned_words": n_tuned,
                "contextual_width": contextual_width,
            },
            **{block: asdict(getattr(self, block)) for block in ("embedding", "positions", "attention", "sublayers")},
        }


def _load_vectors(table: TokenVectors, vocab: LatticeVocab, kind: str, given: Vectors) -> None:
    rows = vocab.rows(kind, given.keys)
    known = rows >= 2
    table.load(torch.from_numpy(rows[known]), torch.from_numpy(given.vectors[known]))


_NOTHING: Any = (("", ""), ("", ""))


def _warn_of_sample(n_docs: int) -> None:
    warnings.warn(
        "FLAT makes its vocabulary of the characters and bigrams of the training texts, and fine-tunes the words in "
        f"them, but saw only a sample of {n_docs}; whatever else occurs is unknown to it. `lex_ner` shows it all "
        "texts. With another component, add to the config\n"
        '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
        stacklevel=2,
    )
