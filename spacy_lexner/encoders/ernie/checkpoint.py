"""Reading and writing of ERNIE checkpoints: a Hugging Face folder of the text side, with files of the entity side."""

import json
from pathlib import Path
from typing import Any, Dict, NamedTuple, Tuple

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .model import FusedBert, complete_layer_types

CONFIG, WEIGHTS = "ernie.json", "fusion.safetensors"


class EntitySide(NamedTuple):
    """The settings of the entity side of a checkpoint."""

    layer_types: Tuple[str, ...]  # from the lowest layer up
    entity_width: int
    entity_heads: int  # of the entities' self-attention


def has_entity_side(folder: str) -> bool:
    """RETURNS (bool): Whether a checkpoint is a folder with an ERNIE, rather than a BERT or a hub name."""
    return (Path(folder) / CONFIG).is_file()


def read_entity_side(folder: str, depth: int) -> EntitySide:
    """Read the settings of a checkpoint's entity side, for a text side of `depth` layers. Raises ValueError if they are
    missing or invalid."""
    path = Path(folder) / CONFIG
    try:
        settings: Dict[str, Any] = json.loads(path.read_text("utf8"))
        side = EntitySide(tuple(settings["layer_types"]), int(settings["entity_width"]), int(settings["entity_heads"]))
        return side._replace(layer_types=complete_layer_types(side.layer_types, depth))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as the settings of an ERNIE ({error}).") from error


def load_entity_side(folder: str, encoder: FusedBert) -> None:
    """Load the weights of a checkpoint's entity side into an encoder, whose layers may read text alone where the
    checkpoint's do not. Raises ValueError if they do not fit."""
    path = Path(folder) / WEIGHTS
    unused = tuple(f"{i}." for i, kind in enumerate(encoder.layer_types) if kind == "sim")
    try:
        weights = load_file(path).items()
        encoder.fusion.load_state_dict({name: value for name, value in weights if not name.startswith(unused)})
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ValueError(f"The entity side cannot be loaded from {path} ({error}).") from error


def save_entity_side(folder: Path, encoder: FusedBert) -> None:
    """Write the entity side of an encoder into the folder of its text side."""
    settings = EntitySide(encoder.layer_types, encoder.entity_width, encoder.entity_heads)
    (folder / CONFIG).write_text(json.dumps(settings._asdict(), indent=2) + "\n", "utf8")
    weights = {name: tensor.contiguous() for name, tensor in encoder.fusion.state_dict().items()}
    save_file(weights, folder / WEIGHTS)
