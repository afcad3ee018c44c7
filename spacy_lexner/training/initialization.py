"""The pipeline that a training run begins with."""

from pathlib import Path

from spacy.language import Language
from spacy.training.initialize import init_nlp
from thinc.api import Config

from ..integrity.model_files import read_model_file


def initialize(config: Config, *, use_gpu: int = -1) -> Language:
    """Create and initialize a pipeline as `spacy train` does, but check the file of pretrained weights first.

    config (Config): The config, variables unresolved.
    use_gpu (int): The GPU, or -1 for the CPU.
    RETURNS (Language): The pipeline. Raises ValueError if `initialize.init_tok2vec` is not a model file, or is
        incomplete; OSError if it cannot be read.
    """
    weights = config.interpolate().get("initialize", {}).get("init_tok2vec")
    if weights is not None:
        read_model_file(Path(weights))
    return init_nlp(config, use_gpu=use_gpu)
