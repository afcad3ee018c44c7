"""The bases of `configs/`, completed as by `spacy init fill-config`, with `--pretraining` where needed."""

from pathlib import Path
from typing import Any

from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.util import load_config, load_model_from_config
from thinc.api import Config

CONFIGS = Path(__file__).parents[2] / "configs"
BASES = sorted(path.stem for path in CONFIGS.glob("*.cfg"))


def filled(name: str, **overrides: Any) -> Config:
    """RETURNS (Config): A completed base, not interpolated; overrides are given as `**{"paths.train": ...}`."""
    base = load_config(CONFIGS / f"{name}.cfg")
    complete = load_model_from_config(base, auto_fill=True, validate=False).config
    if base.get("pretraining"):
        complete = load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(complete)
    return Config().from_str(complete.to_str(), overrides=overrides, interpolate=False)
