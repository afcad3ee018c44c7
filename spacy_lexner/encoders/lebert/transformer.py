"""`spacy-lexner.LEBERTTransformer.v1`: LEBERT for the `transformer` pipe of spacy-transformers."""

import inspect
from typing import Any, Callable, Dict, List, Optional

from spacy.tokens import Doc
from spacy_transformers.data_classes import FullTransformerBatch
from spacy_transformers.layers import trfs2arrays
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from .architecture import NO_OPTIONS, build_lebert_v1
from .transformer_layer import LEBERTTransformer, replace_listener


def build_lebert_transformer_v1(
    name: Optional[str] = None,
    get_spans: Optional[Callable] = None,
    tokenizer_config: Dict[str, Any] = NO_OPTIONS,
    transformer_config: Dict[str, Any] = NO_OPTIONS,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    **settings: Any,
) -> Model[List[Doc], FullTransformerBatch]:
    """Build a LEBERT that stands where `spacy-transformers.TransformerModel.v3` stood: in a pipeline with a shared
    `transformer` pipe and listeners, changing this one name brings the lexicon in.

    name (Optional[str]): Folder or hub name of the checkpoint: `checkpoint` of `build_lebert_v1`.
    get_spans (Optional[Callable]): Taken for the sake of existing configs, and not used: the encoder cuts Docs into
        windows itself (`window`, `stride`), so that no token is lost.
    tokenizer_config (Dict[str, Any]): Likewise; may only hold what changes nothing: `use_fast`, `model_max_length`.
    transformer_config (Dict[str, Any]): Likewise; must be empty, dropouts have their own arguments here.
    mixed_precision (bool), grad_scaler_config (Dict[str, Any]), settings (Any): As in `build_lebert_v1`, all of whose
        other arguments this takes too.
    RETURNS (Model[List[Doc], FullTransformerBatch]): The model for the `transformer` pipe.
    """
    unused = {*tokenizer_config} - {"use_fast", "model_max_length"} | {*transformer_config}
    if unused:
        raise ValueError(
            f"spacy-lexner.LEBERTTransformer.v1 does not know the settings {', '.join(sorted(unused))} of "
            "tokenizer_config or transformer_config. Use its own arguments instead (lower_case, dropout, "
            "attention_dropout, gradient_checkpointing); the rest is read from the checkpoint."
        )
    encoder = build_lebert_v1(name, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config, **settings)
    return LEBERTTransformer(encoder)


def _with_settings_of_lebert(build: Callable) -> inspect.Signature:
    """The signature that a config is checked against and filled from: what LEBERT.v1 takes has its default there."""
    own = [each for each in inspect.signature(build).parameters.values() if each.kind != inspect.Parameter.VAR_KEYWORD]
    known = {"checkpoint", *(each.name for each in own)}
    others = [each for each in inspect.signature(build_lebert_v1).parameters.values() if each.name not in known]
    return inspect.Signature([*own, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in others)])


build_lebert_transformer_v1.__signature__ = _with_settings_of_lebert(  # type: ignore[attr-defined]
    build_lebert_transformer_v1
)


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
