"""The bases of `configs/`, completed as `spacy init fill-config` does it."""

from pathlib import Path
from typing import Any

from spacy.util import load_config, load_model_from_config
from thinc.api import Config

CONFIGS = Path(__file__).parents[2] / "configs"
BASES = sorted(path.stem for path in CONFIGS.glob("*.cfg"))


def filled(name: str, **overrides: Any) -> Config:
    """RETURNS (Config): A base completed, with its variables; overrides are given as `**{"paths.train": ...}`."""
    complete = load_model_from_config(load_config(CONFIGS / f"{name}.cfg"), auto_fill=True, validate=False).config
    return Config().from_str(complete.to_str(), overrides=overrides, interpolate=False)
