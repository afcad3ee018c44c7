"""A whole training run as one step of a larger job: started, resumed, or skipped if already done."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Dict, Mapping

from spacy.language import Language
from thinc.api import Config

from ..integrity.json_files import read_json, write_json
from .checkpoint import Checkpoint
from .initialization import initialize
from .log import log_to_file
from .loop import CHECKPOINT, train

BEST, DONE = "model-best", "done.json"


def set_values(config: Config, values: Mapping[str, Any]) -> Config:
    """Copy a config with other values, by dotted names. Missing sections are created, and a dict replaces a whole
    section."""
    config = config.copy()
    for name, value in values.items():
        *sections, key = name.split(".")
        block: Dict[str, Any] = config
        for section in sections:
            if not isinstance(block.get(section), dict):
                block[section] = {}
            block = block[section]
        block[key] = value
    return config


def train_once(config: Config, output: Path, *, use_gpu: int = -1) -> Path:
    """Train a pipeline unless this is already done; an interrupted run is resumed. The log is in `log.jsonl`.

    config (Config): A complete config.
    output (Path): The folder for checkpoint and pipelines.
    use_gpu (int): The GPU, or -1 for the CPU.
    RETURNS (Path): The best pipeline. Raises ValueError if the folder holds a run with another config, or one whose
        best pipeline is gone.
    """
    fingerprint = {"config": sha256(config.interpolate().to_bytes()).hexdigest()}
    done = output / DONE
    if done.is_file():
        if read_json(done) != fingerprint:
            raise ValueError(
                f"{output} holds a run with another config. Choose another folder, or delete this one to train again."
            )
        if not (output / BEST).is_dir():
            raise ValueError(
                f"{output} holds a finished run, but its {BEST} is gone. Put it back, or delete this folder to train "
                "again."
            )
        return output / BEST
    checkpoint = Checkpoint(output / CHECKPOINT) if (output / CHECKPOINT).exists() else None
    if checkpoint is not None:
        checkpoint.check(config)
    nlp: Language = initialize(config, use_gpu=use_gpu) if checkpoint is None else checkpoint.load_pipeline()
    output.mkdir(parents=True, exist_ok=True)
    train(nlp, output, config, checkpoint=checkpoint, logger=log_to_file(output / "log.jsonl"), use_gpu=use_gpu)
    write_json(done, fingerprint)
    return output / BEST
