"""What a BERT-shaped encoder is made of, and how its vocabulary and its sizes are settled."""

import warnings
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence

from spacy.tokens import Doc
from torch import nn
from transformers import BertConfig, PretrainedConfig, PreTrainedModel

from ...candidates.training_texts import TrainingTexts
from .bert_shaped import load_encoder, load_encoder_config, load_tokenizer
from .piece_vectors import start_from_characters
from .wordpieces import build_vocab, load_wordpieces, read_vocab, vocab_settings


@dataclass(frozen=True)
class BertSetup:
    """The settings of an encoder. They matter once, when it is initialised; what is saved is the module itself.

    checkpoint (Optional[str]): Folder or hub name of a BERT-shaped checkpoint; None for random weights.
    vocab (Optional[str]): Path of a vocab.txt; None for the checkpoint's; without one, the characters of the training
        texts.
    lower_case (bool): Whether a vocabulary that is not the checkpoint's ignores case and accents.
    vocab_min_count (int): In a vocabulary of the training texts, rarer characters are unknown.
    piece_vectors (Optional[str]): File of vectors from which the embeddings of characters start, without a checkpoint.
    hidden_width, depth, heads, intermediate_width (int): Sizes, without a checkpoint.
    longest (int): Most wordpieces that the encoder reads at once, without a checkpoint.
    dropout, attention_dropout (float): Of the encoder, and of its attention weights.
    gradient_checkpointing (bool): Compute each layer again in the backward pass instead of keeping its activations.
    """

    checkpoint: Optional[str] = None
    vocab: Optional[str] = None
    lower_case: bool = True
    vocab_min_count: int = 1
    piece_vectors: Optional[str] = None
    hidden_width: int = 128
    depth: int = 2
    heads: int = 4
    intermediate_width: int = 512
    longest: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.1
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        if self.checkpoint is not None and self.piece_vectors is not None:
            raise ValueError(
                f"piece_vectors = {self.piece_vectors!r} is for random weights, but there is a checkpoint "
                f"({self.checkpoint!r}), which brings its own embeddings: leave one of them out."
            )
        if self.checkpoint is None and self.hidden_width % self.heads:
            raise ValueError(f"hidden_width = {self.hidden_width} is no multiple of heads = {self.heads}.")

    @property
    def reads_tokens(self) -> bool:
        """RETURNS (bool): Whether the vocabulary is made of the training texts."""
        return self.checkpoint is None and self.vocab is None

    def wordpieces(self, texts: TrainingTexts) -> Dict[str, Any]:
        """Settle the vocabulary.

        texts (TrainingTexts): The training texts.
        RETURNS (Dict[str, Any]): Settings for `load_wordpieces`.
        """
        if self.vocab is not None:
            return vocab_settings(read_vocab(self.vocab), lower_case=self.lower_case)
        if self.checkpoint is not None:
            return load_tokenizer(self.checkpoint)
        vocab = build_vocab(texts.tokens, lower_case=self.lower_case, min_count=self.vocab_min_count)
        return vocab_settings(vocab, lower_case=self.lower_case)

    def config(self, wordpieces: Dict[str, Any]) -> PretrainedConfig:
        """Settle the sizes.

        wordpieces (Dict[str, Any]): What `wordpieces` gives.
        RETURNS (PretrainedConfig): The config. Raises ValueError where the checkpoint and the vocabulary do not fit.
        """
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

    def load_weights(self, encoder: PreTrainedModel, config: PretrainedConfig, wordpieces: Dict[str, Any]) -> None:
        """Give an encoder the weights of the checkpoint, or its wordpieces the vectors of a file, if there are any.

        encoder (PreTrainedModel): The encoder.
        config (PretrainedConfig): What `config` gave.
        wordpieces (Dict[str, Any]): What `wordpieces` gave.
        """
        if self.checkpoint is not None:
            encoder.load_state_dict(load_encoder(self.checkpoint, config).state_dict())
        if self.piece_vectors is not None:
            table = encoder.get_input_embeddings()
            assert isinstance(table, nn.Embedding)
            start_from_characters(table, load_wordpieces(wordpieces), self.piece_vectors)


def take_sample(sample: Sequence[Doc], texts: TrainingTexts, name: str) -> None:
    """Make do with a few Docs where nobody has shown all training texts to a model that wants them, and warn.

    sample (Sequence[Doc]): The Docs.
    texts (TrainingTexts): Receives them.
    name (str): What the model is called.
    """
    warnings.warn(
        f"{name} makes its vocabulary or its table of fine-tuned words of the training texts, but saw only a sample of "
        f"{len(sample)}; whatever else occurs is unknown to it. `lex_ner` shows it all texts. With another component, "
        'set vocab = "path/to/vocab.txt" (and words = "frozen"), or add to the config\n'
        '[initialize.before_init]\n@callbacks = "spacy-lexner.collect_texts.v1"',
        stacklevel=3,
    )
    texts.add(sample)
