"""A folder with a trained biLM: its sizes as JSON, its weights as safetensors."""

import json
from pathlib import Path
from typing import Any, Dict, List, Union

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from .bilm import BiLM
from .char_cnn import CharacterCNN
from .character_ids import character_ids
from .clipped_lstm import ClippedLSTM
from .projected_lstm import ProjectedLSTM

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MODEL_TYPE = "elmo"
# The sizes that make two biLMs fit each other's weights, and what they were trained with.
CNN_KEYS = ("embedding_dim", "filters", "n_highway", "activation")
BILM_KEYS = ("projection_dim", "cell_dim", "n_layers", "cell_clip", "projection_clip", "skip_connections")
LSTM_PARTS = ("input_weight", "recurrent_weight", "bias", "projection")


def read_config(folder: Union[str, Path]) -> Dict[str, Any]:
    """The sizes of a checkpoint.

    folder (Union[str, Path]): A folder written by `spacy lexner import elmo`.
    RETURNS (Dict[str, Any]): `characters` (see CharacterIds.to_dict), `cnn` and `bilm` (arguments of CharacterCNN and
        BiLM). Raises ValueError where the folder is no such checkpoint.
    """
    path = Path(folder) / CONFIG
    if not path.is_file():
        raise ValueError(
            f"No ELMo checkpoint: {path} does not exist. Give a folder written by 'spacy lexner import elmo'; official "
            "options.json and weights.hdf5 files are read by that command alone."
        )
    try:
        config = json.loads(path.read_text("utf8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    found = {key: set(config[key]) for key in ("cnn", "bilm")} if _is_elmo(config) else {}
    if found != {"cnn": set(CNN_KEYS), "bilm": set(BILM_KEYS)}:
        raise ValueError(f"{path} does not describe an ELMo checkpoint: import the official files again.")
    return config


def _is_elmo(config: Any) -> bool:
    parts = ("characters", "cnn", "bilm")
    return (
        isinstance(config, dict)
        and config.get("model_type") == MODEL_TYPE
        and all(isinstance(config.get(key), dict) for key in parts)
    )


def build_cnn(config: Dict[str, Any]) -> CharacterCNN:
    """config (Dict[str, Any]): As `read_config` gives it.
    RETURNS (CharacterCNN): The module, with random weights.
    """
    ids = character_ids(config["characters"])
    sizes = {key: config["cnn"][key] for key in CNN_KEYS}
    return CharacterCNN(ids.n_characters, projection_dim=config["bilm"]["projection_dim"], pad_id=ids.padding, **sizes)


def weight_shapes(config: Dict[str, Any]) -> Dict[str, List[int]]:
    """The names and shapes of a checkpoint's weights. Nothing is allocated.

    config (Dict[str, Any]): As `read_config` gives it.
    RETURNS (Dict[str, List[int]]): Shape by name.
    """
    width, cell = config["bilm"]["projection_dim"], config["bilm"]["cell_dim"]
    with torch.device("meta"):
        layers = nn.ModuleList(ClippedLSTM(width, cell, width) for _ in range(config["bilm"]["n_layers"]))
        modules = nn.ModuleDict({"characters": build_cnn(config), "bilm": nn.ModuleDict({"layers": layers})})
    return {name: list(weight.shape) for name, weight in modules.state_dict().items()}


def load_weights(folder: Union[str, Path], config: Dict[str, Any], characters: CharacterCNN, bilm: BiLM) -> None:
    """Put a checkpoint's weights into modules of the same sizes.

    folder (Union[str, Path]): The checkpoint.
    config (Dict[str, Any]): Its sizes.
    characters (CharacterCNN): The character CNN, changed in place.
    bilm (BiLM): The language model, changed in place.
    """
    state = _read_weights(Path(folder) / WEIGHTS, weight_shapes(config))
    prefix = "characters."
    characters.load_state_dict(
        {name[len(prefix) :]: weight for name, weight in state.items() if name.startswith(prefix)}
    )
    for number, layer in enumerate(bilm.layers):
        assert isinstance(layer, (ClippedLSTM, ProjectedLSTM))
        for direction in (0, 1):
            layer.set_direction(direction, *(state[f"bilm.layers.{number}.{part}"][direction] for part in LSTM_PARTS))


def _read_weights(path: Path, expected: Dict[str, List[int]]) -> Dict[str, Tensor]:
    if not path.is_file():
        raise ValueError(f"The ELMo checkpoint has no weights: {path} does not exist.")
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()
            found = {name: file.get_slice(name).get_shape() for name in names}
            wrong = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
            if wrong:
                name = min(wrong)
                raise ValueError(
                    f"{path} does not fit {CONFIG} beside it: {name} has shape {found.get(name)} instead of "
                    f"{expected.get(name)}. Import the official files again."
                )
            return {name: file.get_tensor(name) for name in expected}
    except SafetensorError as error:
        raise ValueError(f"{path} cannot be read ({error}): the file is truncated or damaged.") from error
