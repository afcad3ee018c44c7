"""Pipelines for commands: loaded with one kind of error, whatever is wrong with them."""

from pathlib import Path
from typing import Iterable, Iterator, Tuple

from spacy.language import Language
from spacy.util import load_model

GENERIC = ("model-best", "model-last")  # names of folders that say nothing


def load_pipeline(model: str) -> Language:
    """Load a pipeline.

    model (str): Its folder, the name of its package, or "blank:zh".
    RETURNS (Language): The pipeline. Raises OSError where there is none, and ValueError, which names it, where it is
        damaged or needs what is not installed.
    """
    try:
        return load_model(model)
    except OSError:
        raise
    except Exception as error:  # a damaged file fails in as many ways as there are components
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"The pipeline {model} cannot be loaded ({reason}).") from error


def load_named(models: Iterable[str]) -> Iterator[Tuple[str, Language]]:
    """Load pipelines, each only when it is asked for.

    models (Iterable[str]): Folders or names, each perhaps as NAME=MODEL.
    YIELDS (Tuple[str, Language]): Names and pipelines.
    """
    for model in models:
        name, _, place = ("", "", model) if Path(model).exists() else model.rpartition("=")
        path = Path(place)
        yield name or (path.parent.name if path.name in GENERIC else path.name), load_pipeline(place)
