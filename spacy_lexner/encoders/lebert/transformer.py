"""`spacy-lexner.LEBERTTransformer.v1`: LEBERT for the `transformer` pipe of spacy-transformers."""

from typing import Any, Callable, Dict, List, Literal, Optional, Sequence

from spacy.tokens import Doc
from spacy_transformers.data_classes import FullTransformerBatch
from spacy_transformers.layers import trfs2arrays
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from ...candidates.policy import Policy
from ...lexicon.single_chars import SingleChars
from .architecture import FIRST_LAYER, NO_OPTIONS, build_lebert_v1
from .setup import WordsFrom
from .transformer_layer import LEBERTTransformer, replace_listener


def build_lebert_transformer_v1(
    name: Optional[str] = None,
    get_spans: Optional[Callable] = None,
    tokenizer_config: Dict[str, Any] = NO_OPTIONS,
    transformer_config: Dict[str, Any] = NO_OPTIONS,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    *,
    vocab: Optional[str] = None,
    lower_case: bool = True,
    vocab_min_count: int = 1,
    hidden_width: int = 128,
    depth: int = 2,
    heads: int = 4,
    intermediate_width: int = 512,
    adapter_layers: Sequence[int] = FIRST_LAYER,
    max_words: int = 3,
    policy: Policy = "start",
    single_chars: SingleChars = "keep",
    empty: Literal["zero", "pad"] = "zero",
    words: WordsFrom = "frozen",
    word_width: int = 50,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
    window: Optional[int] = None,
    stride: Optional[int] = None,
    max_batch_tokens: int = 4096,
    gradient_checkpointing: bool = False,
) -> Model[List[Doc], FullTransformerBatch]:
    """Build a LEBERT that stands where `spacy-transformers.TransformerModel.v3` stood: in a pipeline with a shared
    `transformer` pipe and listeners, changing this one name brings the lexicon in.

    name (Optional[str]): Folder or hub name of the checkpoint: `checkpoint` of `build_lebert_v1`.
    get_spans (Optional[Callable]): Taken for the sake of existing configs, and not used: the encoder cuts Docs into
        windows itself (`window`, `stride`), so that no token is lost.
    tokenizer_config (Dict[str, Any]): Likewise; may only hold what changes nothing: `use_fast`, `model_max_length`.
    transformer_config (Dict[str, Any]): Likewise; must be empty, dropouts have their own arguments here.

    All other arguments are those of `build_lebert_v1`.

    RETURNS (Model[List[Doc], FullTransformerBatch]): The model for the `transformer` pipe.
    """
    unused = {*tokenizer_config} - {"use_fast", "model_max_length"} | {*transformer_config}
    if unused:
        raise ValueError(
            f"spacy-lexner.LEBERTTransformer.v1 does not know the settings {', '.join(sorted(unused))} of "
            "tokenizer_config or transformer_config. Use its own arguments instead (lower_case, dropout, "
            "attention_dropout, gradient_checkpointing); the rest is read from the checkpoint."
        )
    encoder = build_lebert_v1(
        name,
        vocab,
        lower_case=lower_case,
        vocab_min_count=vocab_min_count,
        hidden_width=hidden_width,
        depth=depth,
        heads=heads,
        intermediate_width=intermediate_width,
        adapter_layers=adapter_layers,
        max_words=max_words,
        policy=policy,
        single_chars=single_chars,
        empty=empty,
        words=words,
        word_width=word_width,
        dropout=dropout,
        attention_dropout=attention_dropout,
        window=window,
        stride=stride,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
        grad_scaler_config=grad_scaler_config,
        gradient_checkpointing=gradient_checkpointing,
    )
    return LEBERTTransformer(encoder)


def build_tok2vec_v1(
    transformer: Model[List[Doc], FullTransformerBatch],
    pooling: Model[Ragged, Floats2d],
    grad_factor: float = 1.0,
) -> Model[List[Doc], List[Floats2d]]:
    """Build what stands in a component whose listener was replaced by a copy of the transformer
    (`nlp.replace_listeners`).

    transformer (Model[List[Doc], FullTransformerBatch]): The copy.
    pooling (Model[Ragged, Floats2d]): From the wordpieces of a token to its vector, as in the listener.
    grad_factor (float): What gradients are multiplied with on their way into the transformer.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    return chain(replace_listener(transformer), trfs2arrays(pooling, grad_factor))
