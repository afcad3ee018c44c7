"""Reading and validation of the original ELMo's options.json (bilm-tf), key by key."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Union

from ..encoders.elmo.character_ids import ByteCharacters
from ..encoders.elmo.checkpoint import MODEL_TYPE


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and value > 0


def _is_clip(value: Any) -> bool:
    return value is None or (_is_number(value) and value >= 0)


def _is_filters(value: Any) -> bool:
    return (
        bool(value)
        and isinstance(value, list)
        and all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_positive, pair)) for pair in value)
    )


REQUIRED: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "lstm": {
        "dim": _is_positive,
        "n_layers": _is_positive,
        "projection_dim": _is_positive,
        "cell_clip": _is_clip,
        "proj_clip": _is_clip,
        "use_skip_connections": lambda value: isinstance(value, bool),
    },
    "char_cnn": {
        "activation": lambda value: value in ("relu", "tanh"),
        "filters": _is_filters,
        "n_highway": lambda value: not value or _is_positive(value),
        "embedding": lambda value: isinstance(value, dict) and set(value) == {"dim"} and _is_positive(value["dim"]),
        # bilm-tf trains with 261 and requires 262 for inference; the weights are the same.
        "n_characters": lambda value: value in (261, 262),
        "max_characters_per_token": _is_positive,
    },
}
# Also written by bilm-tf's trainer, but irrelevant for what the biLM computes.
TRAINING_KEYS = {"bidirectional", "dropout", "all_clip_norm_val", "batch_size", "n_epochs", "n_negative_samples_batch"}
TRAINING_KEYS |= {"n_tokens_vocab", "n_train_tokens", "unroll_steps"}


def read_options(path: Union[str, Path]) -> Dict[str, Any]:
    """Read the options.json of a biLM into the configuration format of `encoders.elmo.checkpoint.read_config`. Raises
    ValueError if a key is missing, unknown or has an invalid value."""
    try:
        options = json.loads(Path(path).read_text("utf8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    problems = _problems(options)
    if problems:
        raise ValueError(f"{path} is not the options file of an ELMo with a character CNN: {'; '.join(problems)}.")
    lstm, cnn = options["lstm"], options["char_cnn"]
    widest = max(width for width, _ in cnn["filters"])
    if cnn["max_characters_per_token"] < max(widest, 3):
        raise ValueError(
            f"{path}: char_cnn.max_characters_per_token is {cnn['max_characters_per_token']}, but the widest filter "
            f"needs {widest} and any word at least 3."
        )
    return {
        "model_type": MODEL_TYPE,
        "characters": ByteCharacters(cnn["max_characters_per_token"]).to_dict(),
        "cnn": {
            "embedding_dim": cnn["embedding"]["dim"],
            "filters": cnn["filters"],
            "n_highway": cnn["n_highway"] or 0,
            "activation": cnn["activation"],
        },
        "bilm": {
            "projection_dim": lstm["projection_dim"],
            "cell_dim": lstm["dim"],
            "n_layers": lstm["n_layers"],
            "cell_clip": lstm["cell_clip"] or None,
            "projection_clip": lstm["proj_clip"] or None,
            "skip_connections": lstm["use_skip_connections"],
        },
    }


def _problems(options: Any) -> List[str]:
    if not isinstance(options, dict):
        return [f"it holds a {type(options).__name__} instead of an object"]
    unknown = options.keys() - REQUIRED.keys() - TRAINING_KEYS
    problems = [f"unknown key {key!r} (expected {sorted(REQUIRED)} or a training setting)" for key in unknown]
    for section, checks in REQUIRED.items():
        found = options.get(section)
        if not isinstance(found, dict):
            problems.append(f"missing section {section!r}")
            continue
        for key in checks.keys() | found.keys():
            name = f"'{section}.{key}'"
            if key not in found:
                problems.append(f"missing key {name}")
            elif key not in checks:
                problems.append(f"unknown key {name} (expected {sorted(checks)})")
            elif not checks[key](found[key]):
                problems.append(f"{name} has the invalid value {found[key]!r}")
    return sorted(problems)
