"""The settings of a BERT-shaped encoder, and the choice of its vocabulary and sizes."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence

import torch
from spacy.tokens import Doc
from torch import nn
from transformers import BertConfig, PretrainedConfig, PreTrainedModel

from ...candidates.training_texts import TrainingTexts
from ...lexicon.matcher import Matcher
from ...tensors.convert import tensor_of
from .bert_shaped import load_encoder, load_encoder_config, load_tokenizer
from .blocks import Block
from .read_as import ReadAs, choose_normalization, save_normalization
from .training_sample import take_sample
from .vector_file import read_vectors
from .wordpieces import Wordpieces, build_vocab, load_wordpieces, read_vocab, vocab_settings


@dataclass(frozen=True)
class BertSetup(Block):
    """The settings of a text model, see `build_lebert_v1`. They are only used for its initialisation; a saved pipeline
    contains the module itself. `longest` is the maximum number of wordpieces in a window without a checkpoint."""

    least: ClassVar = dict.fromkeys(("vocab_min_count", "hidden_width", "depth", "heads", "intermediate_width"), 1)
    shares: ClassVar = ("dropout", "attention_dropout")

    checkpoint: Optional[str]
    vocab: Optional[str]
    lower_case: bool
    vocab_min_count: int
    piece_vectors: Optional[str]
    hidden_width: int
    depth: int
    heads: int
    intermediate_width: int
    dropout: float
    attention_dropout: float
    gradient_checkpointing: bool
    read_as: ReadAs
    longest = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None and self.piece_vectors is not None:
            raise ValueError(
                f"piece_vectors = {self.piece_vectors!r} is for random weights, but there is a checkpoint "
                f"({self.checkpoint!r}), which brings its own embeddings: leave one of them out."
            )
        if self.checkpoint is None and self.hidden_width % self.heads:
            raise ValueError(f"hidden_width = {self.hidden_width} is not a multiple of heads = {self.heads}.")

    @property
    def reads_tokens(self) -> bool:
        """RETURNS (bool): Whether the vocabulary is built from the training texts."""
        return self.checkpoint is None and self.vocab is None

    @property
    def reads_texts(self) -> bool:
        """RETURNS (bool): Whether words or entities of the training texts are fine-tuned."""
        return False

    @property
    def reads_labels(self) -> bool:
        """RETURNS (bool): Whether the labels of words have vectors."""
        return False

    def texts(self) -> Optional[TrainingTexts]:
        """RETURNS (Optional[TrainingTexts]): The collector of the training texts that the model needs before its
        initialisation; None if it needs none."""
        if not (self.reads_tokens or self.reads_texts):
            return None
        return TrainingTexts(tokens=self.reads_tokens, texts=self.reads_texts)

    def take_sample(self, sample: Sequence[Doc], texts: TrainingTexts, name: str) -> None:
        """Use a few Docs instead of training texts that `name` needs but has not seen, and warn."""
        if texts.n_docs or not (self.reads_tokens or self.reads_texts):
            return
        remedy = 'set vocab = "path/to/vocab.txt" (and words = "frozen"), or '
        take_sample(sample, texts, name, "its vocabulary or its table of fine-tuned words", remedy)

    def wordpieces(self, texts: TrainingTexts, matcher: Optional[Matcher]) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The vocabulary as settings for `load_wordpieces`, with the normalisation of
        characters before look-up."""
        normalization = choose_normalization(self.read_as, None if matcher is None else matcher.lexicon)
        tokens: Counter[str] = Counter()
        for token, count in texts.tokens.items():
            tokens[normalization(token)] += count
        return {**self._vocabulary(tokens), **save_normalization(normalization)}

    def _vocabulary(self, tokens: Mapping[str, int]) -> Dict[str, Any]:
        if self.vocab is not None:
            return vocab_settings(read_vocab(self.vocab), lower_case=self.lower_case)
        if self.checkpoint is not None:
            return load_tokenizer(self.checkpoint)
        vocab = build_vocab(tokens, lower_case=self.lower_case, min_count=self.vocab_min_count)
        return vocab_settings(vocab, lower_case=self.lower_case)

    def config(self, wordpieces: Dict[str, Any]) -> PretrainedConfig:
        """RETURNS (PretrainedConfig): The sizes, for the result of `wordpieces`. Raises ValueError if checkpoint and
        vocabulary do not match."""
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
        """Load the checkpoint's weights into an encoder, or the vectors of a file into its wordpieces, if given.
        `config` and `wordpieces` are the results of the methods of these names."""
        if self.checkpoint is not None:
            encoder.load_state_dict(load_encoder(self.checkpoint, config).state_dict())
        if self.piece_vectors is not None:
            table = encoder.get_input_embeddings()
            assert isinstance(table, nn.Embedding)
            start_from_characters(table, load_wordpieces(wordpieces), self.piece_vectors)


def start_from_characters(table: nn.Embedding, wordpieces: Wordpieces, path: str) -> int:
    """Add the vectors of characters to the random embeddings, [V, H], of the wordpieces that are single characters;
    returns how many got one.

    A masked language model spends its first thousand updates on learning which characters are alike. Vectors of a
    skip-gram model, trained in a minute, know it already. They are centred, since what all of them share says nothing,
    brought to length 1, and turned into the wider space by a random rotation, which keeps all distances.

    The file has word2vec's text format. Raises ValueError if it has no vector for any wordpiece, or more than H values
    each.
    """
    given = read_vectors(path, "characters", normalization=wordpieces.normalization)
    if given.width > table.embedding_dim:
        raise ValueError(
            f"{path} holds vectors of {given.width} values, more than the {table.embedding_dim} of a wordpiece "
            "(hidden_width): train narrower ones, or choose a wider model."
        )
    rows = [(wordpieces.tokenizer.token_to_id(character), i) for i, character in enumerate(given.keys)]
    known = torch.tensor([(piece, i) for piece, i in rows if piece is not None]).reshape(-1, 2)
    if not len(known):
        raise ValueError(f"{path} holds vectors of {len(rows)} characters, none of which is in the vocabulary.")
    vectors = tensor_of(given.vectors)
    vectors = nn.functional.normalize(vectors - vectors.mean(dim=0), dim=1)
    rotation = nn.init.orthogonal_(torch.empty(given.width, table.embedding_dim))
    with torch.no_grad():
        table.weight[known[:, 0]] += (vectors[known[:, 1]] @ rotation).to(table.weight)
    return len(known)
