"""Reading of a folder with a trained biLM: its sizes as JSON, its weights as safetensors."""

import json
from pathlib import Path
from typing import Any, Dict, List, Union

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from ..shared.weights import find_mismatch
from .bilm import BiLM
from .char_cnn import CharacterCNN
from .character_ids import character_ids
from .lstm import ClippedLSTM, ProjectedLSTM

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MODEL_TYPE = "elmo"
CNN_KEYS = ("embedding_dim", "filters", "n_highway", "activation")
BILM_KEYS = ("projection_dim", "cell_dim", "n_layers", "cell_clip", "projection_clip", "skip_connections")


def read_config(folder: Union[str, Path]) -> Dict[str, Any]:
    """Read the sizes of a checkpoint.

    folder (Union[str, Path]): A folder written by `spacy lexner import elmo`.
    RETURNS (Dict[str, Any]): `characters` (see CharacterIds.to_dict), `cnn` and `bilm` (arguments of CharacterCNN and
        BiLM). Raises ValueError if the folder is not an ELMo checkpoint.
    """
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise ValueError(
            f"No ELMo checkpoint: {path} does not exist. Give a folder written by 'spacy lexner import elmo', the only "
            "command that reads official options.json and weights.hdf5 files."
        )
    try:
        config = json.loads(path.read_text("utf8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    keys = {"cnn": {*CNN_KEYS}, "bilm": {*BILM_KEYS}}
    if (
        not isinstance(config, dict)
        or config.get("model_type") != MODEL_TYPE
        or not all(isinstance(config.get(part), dict) for part in ("characters", *keys))
        or any(set(config[part]) != names for part, names in keys.items())
    ):
        raise ValueError(f"{path} does not describe an ELMo checkpoint: import the official files again.")
    return config


def build_cnn(config: Dict[str, Any]) -> CharacterCNN:
    """Build the character CNN of a config (see `read_config`), with random weights."""
    ids = character_ids(config["characters"])
    width = config["bilm"]["projection_dim"]
    return CharacterCNN(ids.n_characters, projection_dim=width, pad_id=ids.padding, **config["cnn"])


def weight_shapes(config: Dict[str, Any]) -> Dict[str, List[int]]:
    """RETURNS (Dict[str, List[int]]): The shapes of a checkpoint's weights by name, those of the module with clipping
    layers. Nothing is allocated."""
    with torch.device("meta"):
        bilm = BiLM(**{**config["bilm"], "cell_clip": 1.0})
        state = nn.ModuleDict({"characters": build_cnn(config), "bilm": bilm}).state_dict()
    return {name: list(weight.shape) for name, weight in state.items()}


def load_weights(folder: Union[str, Path], config: Dict[str, Any], characters: CharacterCNN, bilm: BiLM) -> None:
    """Load a checkpoint's weights into modules of the sizes in `config`. The language model may clip at different
    values than the checkpoint, or not at all. Raises ValueError if the file does not fit its config."""
    state = _read_weights(Path(folder) / WEIGHTS, weight_shapes(config))
    characters.load_state_dict(_under("characters.", state))
    for number, layer in enumerate(bilm.layers):
        assert isinstance(layer, (ClippedLSTM, ProjectedLSTM))
        weights = _under(f"bilm.layers.{number}.", state)
        layer.load_state_dict(weights) if isinstance(layer, ClippedLSTM) else layer.load_clipped(weights)


def _under(prefix: str, state: Dict[str, Tensor]) -> Dict[str, Tensor]:
    return {name[len(prefix) :]: weight for name, weight in state.items() if name.startswith(prefix)}


def _read_weights(path: Path, expected: Dict[str, List[int]]) -> Dict[str, Tensor]:
    if not path.is_file():
        raise ValueError(f"The ELMo checkpoint has no weights: {path} does not exist.")
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()
            found = {name: file.get_slice(name).get_shape() for name in names}
            problem = find_mismatch(found, expected)
            if problem is not None:
                raise ValueError(f"{path} does not fit {CONFIG} beside it: {problem}. Import the official files again.")
            return {name: file.get_tensor(name) for name in expected}
    except SafetensorError as error:
        raise ValueError(f"{path} cannot be read ({error}): the file is truncated or damaged.") from error
