"""What a LEBERT is made of, and how it is built when a pipeline is initialised."""

import warnings
from dataclasses import dataclass
from typing import Any, Dict, Literal, Optional, Sequence, Tuple, get_args

import numpy as np
from spacy.tokens import Doc
from transformers import BertConfig, PretrainedConfig

from ..lexicon.matcher import Matcher
from ..modules.bert_shaped import config_settings, load_encoder, load_encoder_config, load_tokenizer
from ..modules.lebert import LEBERT, check_adapter_layers
from ..modules.lexicon_adapter import EMPTY
from .shim import ModuleShim
from .training_texts import TrainingTexts
from .word_table import start_from_lexicon, words_of_texts
from .wordpieces import build_vocab, load_wordpieces, read_vocab, vocab_settings

WordsFrom = Literal["frozen", "finetuned"]


@dataclass(frozen=True)
class LEBERTSetup:
    """The settings of a LEBERT. They matter once, when it is initialised; what is saved is the module itself.

    checkpoint (Optional[str]): Folder or hub name of a BERT-shaped checkpoint; None for random weights.
    vocab (Optional[str]): Path of a vocab.txt; None for the checkpoint's; without one, the characters of the training
        texts.
    lower_case (bool): Whether a vocabulary that is not the checkpoint's ignores case and accents.
    vocab_min_count (int): In a vocabulary of the training texts, rarer characters are unknown.
    hidden_width, depth, heads, intermediate_width (int): Sizes, without a checkpoint.
    longest (int): Most wordpieces that the encoder reads at once, without a checkpoint.
    adapter_layers (Tuple[int, ...]): The layers, from 0, that have a lexicon adapter after them.
    empty (str): What a token without words receives, "zero" or "pad".
    words (str): "frozen": word vectors stay as the lexicon has them. "finetuned": those of words in the training texts
        are copied and trained.
    word_width (int): Width of the word vectors if the lexicon has none.
    dropout, attention_dropout (float): Of the encoder (and the adapters), and of its attention weights.
    gradient_checkpointing (bool): See LEBERT.
    """

    checkpoint: Optional[str] = None
    vocab: Optional[str] = None
    lower_case: bool = True
    vocab_min_count: int = 1
    hidden_width: int = 128
    depth: int = 2
    heads: int = 4
    intermediate_width: int = 512
    longest: int = 512
    adapter_layers: Tuple[int, ...] = (0,)
    empty: str = "zero"
    words: WordsFrom = "frozen"
    word_width: int = 50
    dropout: float = 0.1
    attention_dropout: float = 0.1
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        if self.words not in get_args(WordsFrom):
            raise ValueError(f"Unknown words={self.words!r}. Choose one of {get_args(WordsFrom)}.")
        if self.empty not in EMPTY:
            raise ValueError(f"Unknown vector of a token without words: empty={self.empty!r}. Choose one of {EMPTY}.")
        if self.word_width < 1:
            raise ValueError(f"word_width = {self.word_width} is out of range: word vectors need at least 1 dimension.")
        if self.checkpoint is None:
            check_adapter_layers(self.adapter_layers, self.depth)
            if self.hidden_width % self.heads:
                raise ValueError(f"hidden_width = {self.hidden_width} is no multiple of heads = {self.heads}.")

    @property
    def reads_tokens(self) -> bool:
        """RETURNS (bool): Whether the vocabulary is made of the training texts."""
        return self.checkpoint is None and self.vocab is None

    @property
    def reads_texts(self) -> bool:
        """RETURNS (bool): Whether the words of the training texts are fine-tuned."""
        return self.words == "finetuned" and bool(self.adapter_layers)

    def build(
        self, shim: ModuleShim, sample: Sequence[Doc], texts: TrainingTexts, matcher: Optional[Matcher]
    ) -> LEBERT:
        """Build the module.

        shim (ModuleShim): Receives the module and its settings.
        sample (Sequence[Doc]): A few Docs, for want of all training texts.
        texts (TrainingTexts): The training texts, if a component or callback has shown them.
        matcher (Optional[Matcher]): The lexicon; None where no adapter wants one.
        RETURNS (LEBERT): The module.
        """
        if (self.reads_tokens or self.reads_texts) and not texts.n_docs:
            _warn_of_sample(len(sample))
            texts.add(sample)
        wordpieces = self._wordpieces(texts)
        config = self._config(wordpieces)
        lexicon_width = matcher.lexicon.dim if matcher is not None else 0
        tuned = words_of_texts(matcher, texts.texts) if matcher is not None and self.reads_texts else np.zeros(0, "u8")
        module = shim.initialize(
            {
                "encoder": config_settings(config),
                "lebert": {
                    "adapter_layers": list(self.adapter_layers),
                    "word_width": lexicon_width or self.word_width,
                    "n_tuned": len(tuned),
                    "dropout": self.dropout,
                    "empty": self.empty,
                    "gradient_checkpointing": self.gradient_checkpointing,
                },
                "wordpieces": wordpieces,
                "lexicon_width": lexicon_width,
            }
        )
        assert isinstance(module, LEBERT)
        if self.checkpoint is not None:
            module.encoder.load_state_dict(load_encoder(self.checkpoint, config).state_dict())
        if matcher is not None and len(tuned):
            assert module.words is not None
            start_from_lexicon(module.words, matcher.lexicon, tuned)
        return module

    def _wordpieces(self, texts: TrainingTexts) -> Dict[str, Any]:
        if self.vocab is not None:
            return vocab_settings(read_vocab(self.vocab), lower_case=self.lower_case)
        if self.checkpoint is not None:
            return load_tokenizer(self.checkpoint)
        vocab = build_vocab(texts.tokens, lower_case=self.lower_case, min_count=self.vocab_min_count)
        return vocab_settings(vocab, lower_case=self.lower_case)

    def _config(self, wordpieces: Dict[str, Any]) -> PretrainedConfig:
        size = len(load_wordpieces(wordpieces))
        dropouts = {"hidden_dropout_prob": self.dropout, "attention_probs_dropout_prob": self.attention_dropout}
        if self.checkpoint is None:
            return BertConfig(
                vocab_size=size,
                hidden_size=self.hidden_width,
                num_hidden_layers=self.depth,
                num_attention_heads=self.heads,
                intermediate_size=self.intermediate_width,
                max_position_embeddings=self.longest,
                pad_token_id=wordpieces["pad"],
                **dropouts,
            )
        config = load_encoder_config(self.checkpoint)
        if size > config.vocab_size:
            raise ValueError(
                f"The vocabulary has {size} pieces, but the checkpoint {self.checkpoint!r} knows {config.vocab_size}: "
                "they do not belong together."
            )
        for name, value in dropouts.items():
            if hasattr(config, name):
                setattr(config, name, value)
        return config


def _warn_of_sample(n_docs: int) -> None:
    warnings.warn(
        "LEBERT makes its vocabulary or its table of fine-tuned words of the training texts, but saw only a sample of "
        f"{n_docs}; whatever else occurs is unknown to it. `lex_ner` shows it all texts. With another component, set "
        'vocab = "path/to/vocab.txt" (and words = "frozen"), or add to the config\n'
        '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
        stacklevel=2,
    )
