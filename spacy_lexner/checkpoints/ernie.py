"""Published ERNIE checkpoints of thunlp, as folders that ERNIE.v1 reads."""

import json
from pathlib import Path
from typing import Any, Dict

from transformers import BertConfig, BertModel

from ..encoders.ernie.checkpoint import save_entity_side
from ..encoders.ernie.model import DEFAULT_ENTITY_HEADS, LAYER_TYPES, ErnieEncoder
from ..encoders.shared.wordpieces import read_vocab, vocab_settings
from .ernie_names import rename_parameters
from .folders import whole_folder
from .huggingface import SavedEncoder, save_tokenizer
from .state_dict import fill_module, read_state_dict

CONFIGS = ("ernie_config.json", "config.json", "bert_config.json")
WEIGHTS = "pytorch_model.bin"
VOCAB = "vocab.txt"


def import_ernie(
    source: Path,
    target: Path,
    *,
    entity_heads: int = DEFAULT_ENTITY_HEADS,
    lower_case: bool = True,
    overwrite: bool = False,
) -> ErnieEncoder:
    """Turn a checkpoint of thunlp/ERNIE into a folder with its text side as Hugging Face knows it (config.json,
    model.safetensors, vocab.txt) and its entity side (ernie.json, fusion.safetensors).

    The file of weights is read as tensors and nothing else: objects in it are refused, never built.

    source (Path): A folder with pytorch_model.bin, ernie_config.json and vocab.txt.
    target (Path): The folder to write.
    entity_heads (int): Heads of the entity self-attention; the original has 4, and its files do not say.
    lower_case (bool): Whether the vocabulary ignores case and accents.
    overwrite (bool): Whether a folder that is there may be replaced.
    RETURNS (ErnieEncoder): The encoder. Raises ValueError where the checkpoint is not an ERNIE, or not a whole one.
    """
    source = Path(source)
    settings = _read_config(source)
    layer_types = settings.pop("layer_types")
    state = rename_parameters(read_state_dict(source / WEIGHTS)).encoder
    wordpieces = vocab_settings(read_vocab(source / VOCAB), lower_case=lower_case)
    widths = [tensor.shape[1] for name, tensor in state.items() if name.endswith("dense_in.weight")]
    if not widths:
        raise ValueError(f"{source / WEIGHTS} holds no entity side: it is a BERT, which is a `checkpoint` as it is.")
    text = BertModel(BertConfig(**settings), add_pooling_layer=False)
    encoder = ErnieEncoder(text, layer_types, entity_width=widths[0], entity_heads=entity_heads)
    fill_module(encoder, state, source / WEIGHTS, derived=("position_ids", "embeddings.token_type_ids"))
    with whole_folder(target, overwrite=overwrite) as folder:
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
            raise ValueError(f"layer_types = {settings['layer_types']}, known are {', '.join(LAYER_TYPES)}")
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the config of an ERNIE ({type(error).__name__}: {error}).") from error
    return settings
