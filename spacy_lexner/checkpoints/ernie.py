"""Import of thunlp's published ERNIE checkpoints into folders that ERNIE.v1 reads."""

import json
import re
from pathlib import Path
from typing import Any, Dict, NamedTuple

from transformers import PreTrainedModel

from ..encoders.ernie.checkpoint import save_entity_side
from ..encoders.ernie.model import DEFAULT_ENTITY_HEADS, LAYER_TYPES, FusedBert
from ..encoders.shared.bert_shaped import build_encoder
from ..encoders.shared.wordpieces import read_vocab, vocab_settings
from ..integrity.folders import whole_folder
from .huggingface import SavedEncoder, save_tokenizer
from .state_dict import fill_module, read_state_dict

CONFIGS = ("ernie_config.json", "config.json", "bert_config.json")
WEIGHTS = "pytorch_model.bin"
VOCAB = "vocab.txt"
# thunlp's names (without `bert.`), the module that holds the parameter here, and its name there; the first match
# counts.
_LAYER = r"encoder\.layer\.(\d+)"
_NAMES = (
    (r"pooler\.(.+)", "next_sentence", r"pooler.\1"),
    (r"cls\.seq_relationship\.(.+)", "next_sentence", r"classifier.seq_relationship.\1"),
    (r"cls\.predictions\.transform\.(.+)", "masked_lm", r"transform.\1"),
    (r"cls\.predictions\.bias", "masked_lm", "bias"),
    (r"cls\.predictions_ent\.transform\.dense\.(.+)", "entity", r"dense.\1"),
    (r"cls\.predictions_ent\.transform\.LayerNorm\.(.+)", "entity", r"norm.\1"),
    (rf"{_LAYER}\.attention\.self_ent\.(.+)", "encoder", r"fusion.\1.attention.self.\2"),
    (rf"{_LAYER}\.attention\.output_ent\.(.+)", "encoder", r"fusion.\1.attention.output.\2"),
    (rf"{_LAYER}\.intermediate\.dense_ent\.(.+)", "encoder", r"fusion.\1.dense_in.\2"),
    (rf"{_LAYER}\.output\.dense_ent\.(.+)", "encoder", r"fusion.\1.dense_out.\2"),
    (rf"{_LAYER}\.output\.LayerNorm_ent\.(.+)", "encoder", r"fusion.\1.norm.\2"),
    (r"(.+)", "encoder", r"text.\1"),
)


class ErnieParameters(NamedTuple):
    """The parameters of a checkpoint, grouped by the module that holds them here."""

    encoder: Dict[str, Any]
    masked_lm: Dict[str, Any]
    next_sentence: Dict[str, Any]
    entity: Dict[str, Any]


def import_ernie(
    source: Path,
    target: Path,
    *,
    entity_heads: int = DEFAULT_ENTITY_HEADS,
    lower_case: bool = True,
    overwrite: bool = False,
) -> FusedBert:
    """Convert a checkpoint of thunlp/ERNIE to a folder with its text side in Hugging Face's format (config.json,
    model.safetensors, vocab.txt) and its entity side (ernie.json, fusion.safetensors). Only tensors are unpickled;
    other objects in the file are refused.

    source (Path): A folder with pytorch_model.bin, ernie_config.json and vocab.txt.
    target (Path): The folder to write.
    entity_heads (int): Heads of the entity self-attention; the original has 4, but its files do not say so.
    lower_case (bool): Whether the vocabulary ignores case and accents.
    overwrite (bool): Whether to replace an existing folder.
    RETURNS (FusedBert): The encoder. Raises ValueError, and writes nothing, if the checkpoint is not an ERNIE, or is
        incomplete or inconsistent.
    """
    source = Path(source)
    settings = _read_config(source)
    layer_types = settings.pop("layer_types")
    state = rename_parameters(read_state_dict(source / WEIGHTS)).encoder
    pieces = read_vocab(source / VOCAB)
    wordpieces = vocab_settings(pieces, lower_case=lower_case)
    widths = [tensor.shape[-1] for name, tensor in state.items() if name.endswith("dense_in.weight")]
    if not widths:
        raise ValueError(
            f"{source / WEIGHTS} has no entity side: it is a BERT, which `checkpoint` reads without conversion."
        )
    text = _build_text(settings, source)
    if len(pieces) > text.config.vocab_size:
        raise ValueError(
            f"{source / VOCAB} has {len(pieces)} pieces, but the checkpoint knows {text.config.vocab_size}: they do "
            "not belong together."
        )
    encoder = FusedBert(text, layer_types, entity_width=widths[0], entity_heads=entity_heads)
    fill_module(encoder, state, source / WEIGHTS, derived=("position_ids", "embeddings.token_type_ids"))
    with whole_folder(target, overwrite=overwrite, inputs=[source]) as folder:
        text.save_pretrained(folder, safe_serialization=True)
        save_tokenizer(SavedEncoder(text, wordpieces), folder)
        save_entity_side(folder, encoder)
    return encoder


def _read_config(source: Path) -> Dict[str, Any]:
    path = next((source / name for name in CONFIGS if (source / name).is_file()), None)
    if path is None:
        raise ValueError(f"{source} has no config: expected one of {', '.join(CONFIGS)}.")
    try:
        settings = json.loads(path.read_text("utf8"))
        if not all(layer_type in LAYER_TYPES for layer_type in settings["layer_types"]):
            raise ValueError(f"layer_types is {settings['layer_types']}; expected {', '.join(LAYER_TYPES)}")
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the config of an ERNIE ({type(error).__name__}: {error}).") from error
    return settings


def _build_text(settings: Dict[str, Any], source: Path) -> PreTrainedModel:
    try:
        return build_encoder({**settings, "model_type": "bert"})
    except (KeyError, ZeroDivisionError, RuntimeError, ValueError) as error:  # transformers checks no value
        raise ValueError(
            f"The config in {source} does not describe a BERT ({type(error).__name__}: {error})."
        ) from error


def rename_parameters(state: Dict[str, Any]) -> ErnieParameters:
    """Map the parameters of a thunlp ERNIE (BertModel or BertForPreTraining) to our modules and names. The tied
    decoder is left out; `gamma` and `beta`, TensorFlow's names in layer norms, are recognised."""
    parts = ErnieParameters({}, {}, {}, {})
    for name, value in state.items():
        modern = re.sub(r"\.beta$", ".bias", re.sub(r"\.gamma$", ".weight", name)).removeprefix("bert.")
        if modern != "cls.predictions.decoder.weight":
            matches = ((re.fullmatch(theirs, modern), part, ours) for theirs, part, ours in _NAMES)
            part, renamed = next((part, match.expand(ours)) for match, part, ours in matches if match)
            getattr(parts, part)[renamed] = value
    return parts
