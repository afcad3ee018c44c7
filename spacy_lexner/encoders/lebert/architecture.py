"""`spacy-lexner.LEBERT.v1`: the encoder for any component that takes token vectors."""

from typing import Any, Dict, List, Optional, Sequence

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...candidates.policy import Policy
from ...lexicon.matcher import SingleChars
from ..shared.lexicon_options import LabelOptions
from ..shared.read_as import ReadAs
from ..shared.word_attention import Empty
from .layer import LEBERTEncoder, LEBERTOptions
from .setup import LEBERTSetup, WordsFrom

FIRST_LAYER: Sequence[int] = (0,)  # a tuple, because spaCy's frozen list cannot be copied into a config
NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()


def build_lebert_v1(
    checkpoint: Optional[str] = None,
    vocab: Optional[str] = None,
    *,
    lower_case: bool = True,
    vocab_min_count: int = 1,
    piece_vectors: Optional[str] = None,
    read_as: ReadAs = "written",
    hidden_width: int = 128,
    depth: int = 2,
    heads: int = 4,
    intermediate_width: int = 512,
    adapter_layers: Sequence[int] = FIRST_LAYER,
    max_words: int = 3,
    policy: Policy = "start",
    single_chars: SingleChars = "keep",
    empty: Empty = "zero",
    words: WordsFrom = "frozen",
    word_width: int = 50,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
    window: Optional[int] = None,
    stride: Optional[int] = None,
    max_batch_tokens: int = 4096,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    gradient_checkpointing: bool = False,
    lexicon: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build a LEBERT (Liu et al. 2021): a BERT-shaped encoder that sees the candidate words of a lexicon.

    The words come from the pipeline's `lex_matcher`, which must come before the component that holds this model.

    checkpoint (Optional[str]): Folder or Hugging Face hub name of a BERT-shaped checkpoint. It is read only when the
        pipeline is initialised; a saved pipeline does not need it. None: random weights in the sizes below.
    vocab (Optional[str]): Path of a vocab.txt, read at the same time. None: the vocabulary of the checkpoint, or else
        the characters of the training texts.
    lower_case (bool): Whether a vocabulary that is not the checkpoint's ignores case and accents.
    vocab_min_count (int): Characters that occur less often are unknown in a vocabulary from the training texts.
    piece_vectors (Optional[str]): Without a checkpoint, a file of vectors (word2vec text format) to initialise
        character embeddings with, which helps pretraining. Read at the same time.
    read_as (str): How characters are looked up in the vocabulary: as they are "written"; as the "lexicon" of training
        compares words (case, width, script); in "simplified" script, for a plain BERT.
    hidden_width, depth, heads, intermediate_width (int): Sizes, without a checkpoint.
    adapter_layers (Sequence[int]): The layers followed by a lexicon adapter; 0, the first, as in the paper. [] is a
        plain BERT, which needs no lexicon.
    max_words (int): Maximum number of candidate words per token.
    policy (str): "start": a word for which its first token has no room is dropped for all of its tokens (the authors'
        code). "token": every token keeps the first words of those that cover it.
    single_chars (str): Rule for words of one wordpiece: "keep", "drop", "alone", "uncovered" (see `keep_single_chars`).
    empty (str): What a token without words receives: "zero", nothing; "pad", the transformed vector of a padding word,
        as in the authors' code.
    words (str): "frozen": word vectors stay as in the lexicon. "finetuned": those of words in the training texts are
        copied and trained with the model.
    word_width (int): Width of the word vectors if the lexicon has none; words of equal length then share a vector.
    dropout, attention_dropout (float): Dropout of the encoder and the adapters, and of the attention weights.
    window (Optional[int]): Longer Docs are read in windows of this many wordpieces; None for the encoder's limit.
    stride (Optional[int]): Distance between window starts; None for three quarters of a window.
    max_batch_tokens (int): Maximum number of wordpieces, padding included, in a batch of the encoder.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    gradient_checkpointing (bool): Trade time for less memory in training.
    lexicon (Dict[str, Any]): Block of options: see `LabelOptions` in `encoders/shared/lexicon_options.py`.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    setup = LEBERTSetup(
        checkpoint=checkpoint,
        vocab=vocab,
        lower_case=lower_case,
        vocab_min_count=vocab_min_count,
        piece_vectors=piece_vectors,
        read_as=read_as,
        hidden_width=hidden_width,
        depth=depth,
        heads=heads,
        intermediate_width=intermediate_width,
        adapter_layers=tuple(adapter_layers),
        empty=empty,
        words=words,
        word_width=word_width,
        dropout=dropout,
        attention_dropout=attention_dropout,
        gradient_checkpointing=gradient_checkpointing,
        lexicon=LabelOptions.read(lexicon),
    )
    options = LEBERTOptions(
        max_words=max_words,
        policy=policy,
        single_chars=single_chars,
        window=window,
        stride=stride,
        max_batch_tokens=max_batch_tokens,
    )
    return LEBERTEncoder(setup, options, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config))
