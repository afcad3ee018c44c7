"""The config of a pretraining run, as commands read it."""

from pathlib import Path
from typing import Any, Mapping

from spacy.util import load_config
from thinc.api import Config, ConfigValidationError

NEEDED = ("training", "initialize")  # sections that `spacy pretrain` reads without asking whether they are there


def read_pretraining_config(path: Path, overrides: Mapping[str, Any]) -> Config:
    """Read a config with a [pretraining] section.

    path (Path): The file.
    overrides (Mapping[str, Any]): Values to override, by dotted names.
    RETURNS (Config): The config, not interpolated. Raises ValueError if it cannot be interpolated or is not complete.
    """
    remedy = f"A base of configs/ is completed by: python -m spacy lexner init-config pretrain.cfg --base {path}"
    try:
        config = load_config(path, overrides=dict(overrides), interpolate=False)
        config.interpolate()
    except ConfigValidationError as error:
        raise ValueError(f"{path} cannot be read, or is not complete. {remedy}\n{error}") from error
    if not config.get("pretraining"):
        raise ValueError(f"{path} has no [pretraining] section. See: spacy lexner init-config --help")
    if missing := [name for name in NEEDED if name not in config]:
        raise ValueError(f"{path} is not complete: it has no section {', '.join(missing)}. {remedy}")
    return config
