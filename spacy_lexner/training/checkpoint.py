"""Saving a training run with everything that later steps depend on, and restoring it."""

import json
import platform
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import spacy
import thinc
import torch
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save_file
from spacy.language import Language
from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
from spacy.util import load_model, logger
from thinc.api import Config, Model, Optimizer

from ..about import __version__
from ..integrity.folders import whole_folder
from ..integrity.pipelines import seal_folder, verify_pipeline, write_pipeline
from ..integrity.seal import REMEDY, SEAL, SealError
from .batch_stream import BatchStream, Place
from .run_state import gradient_names, load_optimizer, random_state, save_optimizer, set_gradients, set_random_state

STATE, OPTIMIZER, PIPELINE = "state.json", "optimizer.safetensors", "pipeline"
N_SHOWN = 5
RESTORE = "Restore it from a copy; or start again: delete the checkpoint, or leave out --resume."


class Progress(NamedTuple):
    """The progress of a training run."""

    step: int = -1  # the last step done
    results: Tuple[Tuple[float, int], ...] = ()  # score and step of each evaluation
    words: int = 0
    seconds: float = 0.0


class Checkpoint:
    """A checkpoint in a folder: the pipeline with its current weights (not averages), and the state of the run."""

    def __init__(self, folder: Path) -> None:
        """Read the state. Raises SealError if a file is missing or damaged."""
        if not (folder / SEAL).is_file():
            raise SealError(f"{folder}: not a checkpoint, or an incomplete one: there is no {SEAL}. {RESTORE}")
        for problem in verify_pipeline(folder):
            raise SealError(problem.replace(REMEDY, RESTORE))  # the seal of a checkpoint cannot be made anew
        self.folder = folder
        self._state: Dict[str, Any] = json.loads((folder / STATE).read_text("utf8"))

    @property
    def progress(self) -> Progress:
        """RETURNS (Progress): The progress of the saved run."""
        return Progress(**self._state["progress"])._replace(
            results=tuple((score, step) for score, step in self._state["progress"]["results"])
        )

    def check(self, config: Config) -> None:
        """Raise ValueError if the config differs from the saved one, or if the best model so far is gone, which only a
        better one would replace; warn if versions of packages differ."""
        mine, other = (_flatten(each) for each in (self._state["config"], _plain(config)))
        if changed := [key for key in sorted({*mine, *other}) if mine.get(key) != other.get(key)]:
            shown = ", ".join(
                f"{key} = {other.get(key)!r:.80} (was {mine.get(key)!r:.80})" for key in changed[:N_SHOWN]
            )
            raise self._refusal(f"another config: {shown}", "Give the same config and overrides, or another --output")
        if not (best := self.folder.parent / DIR_MODEL_BEST).is_dir():
            raise ValueError(
                f"{best}, the best model so far of the run in {self.folder}, is gone. Put it back; if it is lost, copy "
                f"{DIR_MODEL_LAST} there, to go on with that as the best so far; or start again: delete "
                f"{self.folder}, or leave out --resume."
            )
        versions = self._state["versions"]
        if moved := [f"{name} {versions[name]} -> {now}" for name, now in _versions().items() if versions[name] != now]:
            logger.warning("The interrupted training ran with other versions: %s.", ", ".join(moved))

    def load_pipeline(self) -> Language:
        """RETURNS (Language): The saved pipeline."""
        return load_model(self.folder / PIPELINE)

    def check_inputs(self, inputs: Dict[str, str]) -> Dict[str, str]:
        """Compare the digests of what a run reads besides its config and its batches with the saved ones. What does not
        exist any more is not missed.

        RETURNS (Dict[str, str]): The digests of the run: the saved ones, and those of what it did not have. Raises
            ValueError if any differ.
        """
        saved = self._state.get("inputs", {})  # older checkpoints have none
        if changed := [name for name, digest in saved.items() if inputs.get(name, digest) != digest]:
            shown = ", ".join(changed[:N_SHOWN])
            raise self._refusal(f"other data (changed: {shown})", "Restore the old data")
        return {**inputs, **saved}

    def restore(self, nlp: Language, optimizer: Optimizer, batches: BatchStream) -> None:
        """Bring a new optimiser, new batches and all random states to the saved state. Raises ValueError if the batches
        differ."""
        for _ in range(self.progress.step + 1):
            optimizer.step_schedules()
        arrays = load_safetensors((self.folder / OPTIMIZER).read_bytes())
        load_optimizer(optimizer, models_of(nlp), arrays, self._state["n_updates"])
        set_gradients(models_of(nlp), self._state["gradients"])
        place = Place(**self._state["place"])
        if not batches.go_to(place):
            raise self._refusal(
                f"other training texts: its first {place.n_read} batches are not what the corpus gives now",
                "Restore the old texts (or the code of corpus, augmenter and batcher)",
            )
        set_random_state(self._state["random"])

    def _refusal(self, difference: str, remedy: str) -> ValueError:
        return ValueError(
            f"{self.folder} holds a run with {difference}. {remedy}; or start again: delete that folder, or leave out "
            "--resume."
        )


def write_checkpoint(
    folder: Path,
    config: Config,
    inputs: Dict[str, str],
    nlp: Language,
    optimizer: Optimizer,
    batches: BatchStream,
    progress: Progress,
) -> None:
    """Replace a checkpoint by the current state of a run. `inputs` are digests, see `Checkpoint.check_inputs`."""
    arrays, n_updates = save_optimizer(optimizer, models_of(nlp))
    state: Dict[str, Any] = {"progress": progress._asdict(), "place": batches.place._asdict(), "n_updates": n_updates}
    state["gradients"] = gradient_names(models_of(nlp))
    with whole_folder(folder, overwrite=True) as temporary:
        write_pipeline(nlp, temporary / PIPELINE)
        save_file(arrays, temporary / OPTIMIZER)
        state.update(random=random_state(), config=_plain(config), inputs=inputs, versions=_versions())
        text = json.dumps(state, separators=(",", ":"))  # srsly's numbers are not exact
        (temporary / STATE).write_text(text, "utf8")
        seal_folder(temporary)


def models_of(nlp: Language) -> List[Tuple[str, Model]]:
    """RETURNS (List[Tuple[str, Model]]): The models of a pipeline, by component."""
    models = ((name, getattr(pipe, "model", None)) for name, pipe in nlp.components)
    return [(name, model) for name, model in models if isinstance(model, Model)]


def _versions() -> Dict[str, str]:
    packages = {"spacy": spacy, "thinc": thinc, "torch": torch}
    versions = {name: package.__version__ for name, package in packages.items()}
    return {"python": platform.python_version(), "spacy_lexner": __version__, **versions}


def _plain(config: Config) -> Dict[str, Any]:
    return json.loads(json.dumps(config.interpolate()))


def _flatten(section: Dict[str, Any], prefix: str = "") -> Dict[str, Any]:
    flat: Dict[str, Any] = {}
    for key, value in section.items():
        if isinstance(value, dict) and value:
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
