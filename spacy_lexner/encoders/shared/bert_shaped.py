"""BERT-shaped Hugging Face models: built from a config, loaded from a checkpoint, taken apart into layers."""

import json
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Dict, Iterable

from safetensors import SafetensorError
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from ...lexicon.limits import quote
from .wordpieces import SPECIAL_PIECES

KINDS = {bool: "a flag", int: "a number", float: "a number", str: "a text"}
NOT_SETTINGS = ("_name_or_path", "transformers_version", "torch_dtype", "dtype", "architectures")


def config_settings(config: PretrainedConfig) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): A Hugging Face config as plain JSON, for `build_encoder`, without keys about its
    origin."""
    settings = json.loads(config.to_json_string(use_diff=False))
    return {key: value for key, value in settings.items() if key not in NOT_SETTINGS}


def build_encoder(settings: Dict[str, Any]) -> PreTrainedModel:
    """An encoder with random weights, without a pooler, from the result of `config_settings`. Raises ValueError for a
    setting of the wrong kind: transformers would fail at the first text."""
    config = AutoConfig.for_model(**settings)
    for name, default in config_settings(type(config)()).items():
        value = settings.get(name, default)
        expected = KINDS.get(type(default))
        is_free = expected is None or name.endswith("_id")  # an id may be null, or several
        if not is_free and KINDS.get(type(value)) != expected:
            raise ValueError(f"{name} of the encoder is {quote(value)}; expected {expected} such as {default}")
    return _without_pooler(AutoModel.from_config(config))


def load_encoder_config(checkpoint: str) -> PretrainedConfig:
    """The config of a checkpoint, a folder or a name on the Hugging Face hub. Raises ValueError if there is none."""
    try:
        return AutoConfig.from_pretrained(checkpoint, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"The config of the checkpoint {checkpoint!r} cannot be read ({error}). Give a folder with config.json, "
            "vocab.txt or tokenizer.json, and model.safetensors, or the name of such a model on the Hugging Face hub."
        ) from error


def load_encoder(checkpoint: str, config: PretrainedConfig) -> PreTrainedModel:
    """The encoder of a checkpoint, a folder or a name on the Hugging Face hub, in float32, without a pooler; `config`
    may have other dropouts. Raises ValueError where weights are missing or do not fit."""
    try:  # a pickle is read with `weights_only=True`: the default, and unknown to transformers 4.45, which has no other
        model, info = AutoModel.from_pretrained(
            checkpoint, config=config, trust_remote_code=False, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError, UnpicklingError) as error:
        raise ValueError(
            f"The weights of the checkpoint {checkpoint!r} cannot be loaded ({error}). Expected model.safetensors that "
            "fits the config.json beside it."
        ) from error
    missing = sorted(key for key in info["missing_keys"] if ".pooler." not in f".{key}")
    if missing:
        raise ValueError(
            f"The checkpoint {checkpoint!r} lacks {len(missing)} of the encoder's weights, the first of them "
            f"{', '.join(missing[:3])}. {_explain(missing[0], info['unexpected_keys'], config.model_type)}"
        )
    return _without_pooler(model.float())


def _explain(missing: str, others: Iterable[str], model_type: str) -> str:
    prefixed = next((name for name in sorted(others) if name.endswith(f".{missing}")), None)
    if prefixed is None:
        return f"It is not a checkpoint of a {model_type!r} model, or not a whole one."
    return (
        f"It has {prefixed}: remove the prefix {prefixed.removesuffix(missing)!r} from the names in the weights file "
        "(torch.load, rename, torch.save), or save the model inside the wrapper with save_pretrained."
    )


def load_tokenizer(checkpoint: str) -> Dict[str, Any]:
    """The tokenizer of a checkpoint, as settings for `load_wordpieces`: under "tokenizer" the JSON of the `tokenizers`
    library, and the ids of the special pieces under "pad", "unk", "cls", "sep" and "mask". If one is missing, raises
    ValueError."""
    folder, files = Path(checkpoint), ("vocab.txt", "tokenizer.json")
    if folder.is_dir() and not any((folder / name).is_file() for name in files):
        raise ValueError(
            f"The checkpoint {checkpoint!r} has no tokenizer: neither vocab.txt nor tokenizer.json is in it. Put "
            "one there, or give the path of a vocab.txt yourself (`vocab`)."
        )
    try:
        tokenizer = _read_tokenizer(checkpoint)
        backend = tokenizer.backend_tokenizer
    except (OSError, ValueError, TypeError, AttributeError, KeyError, ImportError) as error:
        raise ValueError(
            f"The tokenizer of the checkpoint {checkpoint!r} cannot be loaded ({error}). Give the path of a "
            "vocab.txt yourself (`vocab`)."
        ) from error
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in SPECIAL_PIECES}
    missing = [name for name, piece in special.items() if piece is None]
    if missing or len(tokenizer) <= len(special):
        raise ValueError(
            f"The tokenizer of the checkpoint {checkpoint!r} is not BERT's: it has {len(tokenizer)} pieces, none for "
            f"{', '.join(missing) or 'text'}. Give the path of a vocab.txt yourself (`vocab`)."
        )
    backend.no_truncation()
    backend.no_padding()
    return {"tokenizer": backend.to_str(), **special}


def _read_tokenizer(checkpoint: str) -> Any:
    try:
        return AutoTokenizer.from_pretrained(checkpoint, trust_remote_code=False)
    except ValueError:  # of a class that this version of transformers lacks, such as those that version 5 saves
        if not (Path(checkpoint) / "tokenizer.json").is_file():
            raise
        return PreTrainedTokenizerFast.from_pretrained(checkpoint)


def encoder_layers(encoder: PreTrainedModel) -> nn.ModuleList:
    """The transformer layers, lowest first, of BERT, RoBERTa, ELECTRA, MacBERT, or another model with one list of
    layers. Raises ValueError where there is no such list."""
    n_layers = encoder.config.num_hidden_layers
    lists = [module for module in encoder.modules() if isinstance(module, nn.ModuleList) and len(module) == n_layers]
    if not lists:
        raise ValueError(
            f"The model type {encoder.config.model_type!r} has no list of its {n_layers} layers (ALBERT, for one, "
            "shares a single layer among them), so no lexicon adapter can stand between two. Choose a BERT-shaped "
            "checkpoint, or adapter_layers = []."
        )
    return lists[0]


def max_length(encoder: PreTrainedModel) -> int:
    """RETURNS (int): The maximum sequence length of an encoder in wordpieces, including special ones. RoBERTa's
    positions begin after the padding id."""
    offset = getattr(getattr(encoder, "embeddings", None), "padding_idx", None)
    return encoder.config.max_position_embeddings - (0 if offset is None else offset + 1)


def _without_pooler(encoder: PreTrainedModel) -> PreTrainedModel:
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # type: ignore[assignment]
    return encoder
