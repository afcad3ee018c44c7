"""The model of a run of `spacy pretrain`, made again from its config and a file that it saved."""

from pathlib import Path
from typing import Any, Dict, Tuple, Union

from spacy.language import Language
from spacy.schemas import ConfigSchemaPretrain
from spacy.training.pretrain import create_pretraining_model
from spacy.util import load_model_from_config, registry
from thinc.api import Config, Model

from .state import STATE_KEY


def make_objective(config: Config) -> Tuple[Language, Model]:
    """Make the objective as `spacy pretrain` does.

    config (Config): The config of the run.
    RETURNS (Tuple[Language, Model]): The pipeline and the objective, with new weights.
    """
    config = config.copy()
    config["initialize"]["init_tok2vec"] = None
    nlp = load_model_from_config(config, auto_fill=True)
    settings: Dict[str, Any] = registry.resolve(nlp.config.interpolate()["pretraining"], schema=ConfigSchemaPretrain)
    return nlp, create_pretraining_model(nlp, settings)


def load_weights(model: Model, path: Union[str, Path], heads: str) -> None:
    """Give the objective the weights that a run has saved, those of its heads too.

    model (Model): The objective.
    path (Union[str, Path]): A file that the run saved, `resumable`. Raises ValueError where it is not.
    heads (str): What the objective puts on its encoder, for the error.
    """
    data = Path(path).read_bytes()
    if STATE_KEY.encode() not in data:
        raise ValueError(f"{path} holds no {heads}: it was saved without resumable = true.")
    model.get_ref("tok2vec").from_bytes(data)
