"""A pretraining run in its folder: started, resumed with what it was started with, or already finished.

`spacy pretrain` copies its config to the folder, with sections that it does not know. One of them, [content], has
digests of the files that the config names, so the copy says what a run was started with.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

import typer
from click import UsageError
from pipelines import complete
from spacy.cli._util import parse_config_overrides, show_validation_error
from spacy.util import dict_to_dot, load_config, load_config_from_str
from thinc.api import Config
from wasabi import msg

from spacy_lexner.integrity.model_files import read_model_file
from spacy_lexner.training.digests import digest_path
from spacy_lexner.training.runs import set_values

EPOCH = re.compile(r"model\d+\.bin")
COPY, FINAL = "config.cfg", "model-last.bin"
CONTENT = "content."
# Settings that name a file or folder, besides those in [paths]. What these hold is compared, not where they are.
READ = ("components.tok2vec.model.piece_vectors", "pretraining.objective.lexicon")
WRITTEN = ("paths.words", "pretraining.objective.log_path")
# A run may be made longer. The length of its epochs stays, since they count what is done.
LENGTH = (
    "pretraining.max_epochs",
    "pretraining.optimizer.learn_rate.total_steps",
    "pretraining.objective.total_updates",
)


class Run(NamedTuple):
    """A run: the config that `spacy pretrain` reads, the folder that it writes, and the file of the last epoch."""

    config: Path
    output: Path
    last: Optional[Path]
    n_epochs: int

    def train(self, gpu_id: int) -> None:
        """Train the missing epochs, if any. The encoder is then in `model-last.bin`."""
        done = 0 if self.last is None else 1 + epoch_of(self.last)
        if self.last is not None and done >= self.n_epochs:
            msg.info(f"{self.output} holds a finished run (epochs: {done}): nothing is left to train")
            shutil.copyfile(self.last, self.output / FINAL)  # a killed process may have left an older one
            return
        resume = [] if self.last is None else ["--resume-path", str(self.last)]
        run_spacy(["pretrain", str(self.config), str(self.output), "--gpu-id", str(gpu_id), *resume])


def read_base(path: Path) -> Config:
    """RETURNS (Config): A base config of `configs/`, completed. Exits with a message if there is none."""
    with TemporaryDirectory() as folder:
        return load_config(complete(path, Path(folder) / path.name))


def run_settings(text: Path, output: Path, steps: int, save_every: int, seed: int) -> Dict[str, Any]:
    """List the settings of any run. An epoch ends where a file is saved.

    text (Path): The raw text.
    output (Path): The folder of the run.
    steps (int): Total number of updates, rounded up to epochs of equal length.
    save_every (int): Most updates in an epoch. A run that is already there keeps the length of its epochs.
    seed (int): The random seed.
    RETURNS (Dict[str, Any]): Values by dotted names.
    """
    n_batches = epoch_length(output) or ceil(steps / ceil(steps / save_every))
    n_epochs = ceil(steps / n_batches)
    return {
        "paths.raw_text": str(text),
        "pretraining.max_epochs": n_epochs,
        "pretraining.batcher.n_batches": n_batches,
        "pretraining.optimizer.learn_rate.total_steps": n_epochs * n_batches,
        "pretraining.objective.total_updates": n_epochs * n_batches,
        "pretraining.objective.log_path": str(output / "losses.jsonl"),
        "system.seed": seed,
    }


def epoch_length(output: Path) -> Optional[int]:
    """RETURNS (Optional[int]): Number of updates in an epoch of the run in a folder; None if it holds none that can be
    resumed."""
    if not (output / COPY).is_file() or not any(map(is_whole, epoch_files(output))):
        return None
    length: Optional[int] = dict_to_dot(load_config(output / COPY)).get("pretraining.batcher.n_batches")
    return length


def configure(base: Config, settings: Mapping[str, Any], options: str) -> Config:
    """RETURNS (Config): A completed config with settings, and with the user's options on top of these. Exits with a
    message if an option cannot be read or has no section."""
    try:
        chosen = parse_config_overrides(shlex.split(options))
    except (UsageError, ValueError) as error:
        msg.fail(f"Options {options!r}: {error}", "Expected '--SECTION.NAME VALUE …'.", exits=1)
    with show_validation_error(hint_fill=False):
        return load_config_from_str(base.to_str(), overrides={**settings, **chosen})


def open_run(config: Config, file: Path, output: Path, *, resume: bool) -> Run:
    """Start a run, or find the one in its folder. Exits with a message, and writes nothing, if that one may not be
    resumed or was started with other settings or files.

    config (Config): The complete config.
    file (Path): Where to write it for `spacy pretrain`.
    output (Path): The folder of the run.
    resume (bool): Whether a run that is already there may be resumed.
    RETURNS (Run): The run. Nothing has been trained if it has no `last`.
    """
    config, last = add_content(config), last_checkpoint(output)
    if last is not None and not resume:
        msg.fail(f"{output} already contains a run", "Resume it with --resume, or remove the folder.", exits=1)
    if last is not None and (changed := list_changes(output / COPY, config)):
        msg.fail(
            f"{output} holds a run with other settings: {', '.join(changed)}",
            "Delete that folder to start again, choose another one (in the project: --vars.suffix _2), or repeat its "
            "settings to resume it.",
            exits=1,
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    config.to_disk(file)
    return Run(file, output, last, config["pretraining"]["max_epochs"])


def last_checkpoint(output: Path) -> Optional[Path]:
    """Find the file of the last epoch that was saved completely.

    output (Path): The folder of a run.
    RETURNS (Optional[Path]): The file, or None if there is none yet.
    """
    for file in epoch_files(output):
        if is_whole(file):
            return file
        msg.warn(f"{file} was not saved completely: the run was stopped, or the disk was full")
    return None


def epoch_files(output: Path) -> List[Path]:
    """RETURNS (List[Path]): The files of the epochs of a run, the last first."""
    files = [file for file in output.glob("model*.bin") if EPOCH.fullmatch(file.name)]
    return sorted(files, key=epoch_of, reverse=True)


def is_whole(file: Path) -> bool:
    """RETURNS (bool): Whether a file was saved completely."""
    try:
        read_model_file(file)
    except ValueError:
        return False
    return True


def epoch_of(file: Path) -> int:
    """RETURNS (int): The number of an epoch's file, from 0."""
    return int(file.stem.removeprefix("model"))


def add_content(config: Config) -> Config:
    """RETURNS (Config): The config with a section [content]: a digest of each file and folder that it reads."""
    digests = {}
    for name, value in dict_to_dot(config).items():
        is_read = name in READ or (name.startswith("paths.") and name not in WRITTEN)
        if is_read and isinstance(value, str) and Path(value).exists():
            digests[CONTENT + name] = digest_path(Path(value))
    return set_values(config, digests)


def list_changes(copy: Path, config: Config) -> List[str]:
    """RETURNS (List[str]): The differences between a run's copy of its config and another config, for a message."""
    if not copy.is_file():
        return [f"unknown ones (there is no {copy})"]
    was, now = dict_to_dot(load_config(copy)), dict_to_dot(config)
    names = {*was, *now}
    names -= {*WRITTEN, *LENGTH, *(name.removeprefix(CONTENT) for name in names if name.startswith(CONTENT))}
    return [
        f"the content of {name.removeprefix(CONTENT)}"
        if name.startswith(CONTENT)
        else f"{name} = {now.get(name)!r:.80} (was {was.get(name)!r:.80})"
        for name in sorted(names)
        if was.get(name) != now.get(name)
    ]


def run_spacy(command: List[str]) -> None:
    """Run one of spaCy's commands; exit if it fails."""
    result = subprocess.run([sys.executable, "-m", "spacy", *command], check=False)
    if result.returncode:
        raise typer.Exit(result.returncode)
