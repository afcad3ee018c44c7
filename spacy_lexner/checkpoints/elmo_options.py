"""The options.json of the original ELMo (bilm-tf), checked key by key."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Union

from ..encoders.elmo.character_ids import ByteCharacters
from ..encoders.elmo.checkpoint import MODEL_TYPE

Check = Callable[[Any], bool]


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _count(value: Any) -> bool:
    return value is None or value == 0 or _positive(value)


def _clip(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0)


def _filters(value: Any) -> bool:
    return (
        bool(value)
        and isinstance(value, list)
        and all(isinstance(pair, list) and len(pair) == 2 and all(map(_positive, pair)) for pair in value)
    )


REQUIRED: Mapping[str, Mapping[str, Check]] = {
    "lstm": {
        "dim": _positive,
        "n_layers": _positive,
        "projection_dim": _positive,
        "cell_clip": _clip,
        "proj_clip": _clip,
        "use_skip_connections": lambda value: isinstance(value, bool),
    },
    "char_cnn": {
        "activation": lambda value: value in ("relu", "tanh"),
        "filters": _filters,
        "n_highway": _count,
        "embedding": lambda value: isinstance(value, dict) and set(value) == {"dim"} and _positive(value["dim"]),
        # bilm-tf trains with 261 and asks for 262 afterwards; the weights are the same.
        "n_characters": lambda value: value in (261, 262),
        "max_characters_per_token": _positive,
    },
}
# How the biLM was trained. A file that bilm-tf's trainer wrote has these as well; they do not change what it computes.
TRAINING_KEYS = frozenset(
    {
        "bidirectional",
        "dropout",
        "all_clip_norm_val",
        "batch_size",
        "n_epochs",
        "n_negative_samples_batch",
        "n_tokens_vocab",
        "n_train_tokens",
        "unroll_steps",
    }
)


def read_options(path: Union[str, Path]) -> Dict[str, Any]:
    """Read the sizes of a biLM.

    path (Union[str, Path]): An options.json of the original.
    RETURNS (Dict[str, Any]): The configuration of a checkpoint, as `elmo_checkpoint.read_config` gives it. Raises
        ValueError where a key is missing, unknown or has an impossible value.
    """
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
            f"needs {widest} characters and a word at least 3."
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
    problems = [
        f"unknown key {key!r} (known are {sorted(REQUIRED)} and those of the trainer)"
        for key in options.keys() - REQUIRED.keys() - TRAINING_KEYS
    ]
    for section, checks in REQUIRED.items():
        found = options.get(section)
        if not isinstance(found, dict):
            problems.append(f"missing section {section!r}")
            continue
        problems += [f"missing key '{section}.{key}'" for key in checks.keys() - found.keys()]
        problems += [
            f"unknown key '{section}.{key}' (known are {sorted(checks)})" for key in found.keys() - checks.keys()
        ]
        problems += [
            f"'{section}.{key}' cannot be {found[key]!r}"
            for key, check in checks.items()
            if key in found and not check(found[key])
        ]
    return sorted(problems)
