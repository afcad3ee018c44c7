"""What a FLAT is made of, and how it is built when a pipeline is initialised."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, Literal, Mapping, Optional, Sequence, get_args

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ..shared.shim import ModuleShim
from ..shared.vector_file import DEFAULT_WIDTH, Vectors, read_vectors
from ..shared.words import words_of_texts
from .embedding import TokenVectors
from .model import Flat, build_flat
from .vocab import LatticeVocab, Numbers, build_vocab, check_numbers, load_vocab

WordsFrom = Literal["finetuned", "frozen", "none"]


@dataclass(frozen=True)
class FlatSetup:
    """The settings of a FLAT. They matter once, when it is initialised; what is saved is the module itself.

    width (int): H, width of the result.
    encoder (Mapping[str, Any]): The other arguments of FlatEncoder.
    absolute (Optional[Mapping[str, Any]]): Arguments of AbsolutePositions; None for relative positions alone.
    words (str): "finetuned": the vectors of the words in the training texts are copied from the lexicon and trained,
        other words have theirs from the lexicon. "frozen": all words have. "none": a model without words.
    word_width (int): Width of the word vectors if the lexicon has none.
    character_vectors, bigram_vectors (Optional[str]): Files of vectors, in the text format of word2vec; None for random
        ones.
    character_width, bigram_width (Optional[int]): Widths; None for those of the files.
    bigrams (bool): Whether characters have bigrams.
    keep_vectors (bool): Keep the vectors of what does not occur in the training texts, as they are.
    min_count, bigram_min_count (int): Rarer characters and bigrams count as unknown.
    numbers (str): "keep", "characters", "all": see LatticeVocab.
    normalize, normalize_contextual (bool): See LatticeEmbedding.
    token_dropout, character_dropout, word_dropout (float): See LatticeEmbedding.
    dropout_place (str): See LatticeEmbedding.
    output_dropout (float): Dropout of the result.
    """

    width: int = 160
    encoder: Mapping[str, Any] = field(default_factory=lambda: {"heads": 8})
    absolute: Optional[Mapping[str, Any]] = None
    words: WordsFrom = "finetuned"
    word_width: int = 50
    character_vectors: Optional[str] = None
    bigram_vectors: Optional[str] = None
    character_width: Optional[int] = None
    bigram_width: Optional[int] = None
    bigrams: bool = True
    keep_vectors: bool = True
    min_count: int = 1
    bigram_min_count: int = 1
    numbers: Numbers = "keep"
    normalize: bool = True
    normalize_contextual: bool = True
    token_dropout: float = 0.01
    character_dropout: float = 0.5
    word_dropout: float = 0.5
    dropout_place: str = "before_projection"
    output_dropout: float = 0.3

    def __post_init__(self) -> None:
        if self.words not in get_args(WordsFrom):
            raise ValueError(f"Unknown words = {self.words!r}. Choose one of {get_args(WordsFrom)}.")
        check_numbers(self.numbers)
        for name in ("width", "word_width", "character_width", "bigram_width", "min_count", "bigram_min_count"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} = {value} is out of range: it must be at least 1.")
        if self.bigram_vectors is not None and not self.bigrams:
            raise ValueError("bigram_vectors is given, but bigrams = false: leave one of them out.")
        with torch.device("meta"):  # a wrong option shows now, not after the training texts have been read
            build_flat(self._settings(LatticeVocab(*_NOTHING), DEFAULT_WIDTH, DEFAULT_WIDTH, 1, 0, 0))

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
        characters = read_vectors(self.character_vectors, "characters", self.character_width)
        bigrams = read_vectors(self.bigram_vectors, "bigrams", self.bigram_width)
        keys = build_vocab(
            texts.texts,
            bigrams=self.bigrams,
            numbers=self.numbers,
            min_count=self.min_count,
            bigram_min_count=self.bigram_min_count,
            fixed_characters=characters.keys if self.keep_vectors else (),
            fixed_bigrams=bigrams.keys if self.keep_vectors else (),
        )
        vocab = load_vocab(keys)
        lexicon_width = matcher.lexicon.dim if matcher is not None else 0
        tuned = np.zeros(0, "u8")
        if matcher is not None and self.words == "finetuned":
            tuned = words_of_texts(matcher, texts.texts)
        settings = self._settings(
            vocab, characters.width, bigrams.width, lexicon_width or self.word_width, len(tuned), contextual_width
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
            "embedding": {
                "n_characters": vocab.n_characters + n_special,
                "n_fixed_characters": vocab.n_fixed_characters,
                "character_width": character_width,
                "n_bigrams": vocab.n_bigrams + n_special if self.bigrams else 0,
                "n_fixed_bigrams": vocab.n_fixed_bigrams,
                "bigram_width": bigram_width,
                "word_width": word_width if self.reads_words else 0,
                "n_tuned_words": n_tuned,
                "contextual_width": contextual_width,
                "normalize": self.normalize,
                "normalize_contextual": self.normalize_contextual,
                "token_dropout": self.token_dropout,
                "character_dropout": self.character_dropout,
                "word_dropout": self.word_dropout,
                "dropout_place": self.dropout_place,
            },
            "encoder": dict(self.encoder),
            "absolute": None if self.absolute is None else dict(self.absolute),
            "output_dropout": self.output_dropout,
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
