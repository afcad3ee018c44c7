"""Pretrain a BERT or an ERNIE on raw text, and export it as a Hugging Face folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated, List, Optional

import srsly
import typer
from pipelines import complete
from spacy.util import load_config
from wasabi import msg

EPOCH = re.compile(r"model(\d+)\.bin")


def last_checkpoint(output: Path) -> Optional[Path]:
    """Find the file of the last epoch that was saved completely.

    output (Path): The folder of a run.
    RETURNS (Optional[Path]): The file, or None if there is none yet.
    """
    epochs = {int(match[1]): file_ for file_ in output.glob("model*.bin") if (match := EPOCH.fullmatch(file_.name))}
    for epoch in sorted(epochs, reverse=True):
        try:
            srsly.msgpack_loads(epochs[epoch].read_bytes())
            return epochs[epoch]
        except ValueError:
            msg.warn(f"{epochs[epoch]} was not saved completely: the run was stopped, or the disk was full")
    return None


def main(
    config: Annotated[Path, typer.Argument(help="A config with a [pretraining] section.")],
    text: Annotated[Path, typer.Argument(help="Raw text: a file, or a folder of *.txt and *.txt.gz files.")],
    output: Annotated[Path, typer.Argument(help="Folder for the files of the run.")],
    checkpoint: Annotated[Path, typer.Argument(help="Hugging Face folder to write.")],
    steps: Annotated[int, typer.Option(help="Total number of updates.")] = 10_000,
    save_every: Annotated[int, typer.Option(help="Updates between two saved files to resume from.")] = 1000,
    masking: Annotated[str, typer.Option(help="piece, whole_word or ngram.")] = "piece",
    lexicon: Annotated[
        Path, typer.Option(help="Lexicon that defines whole words, and which words name entities.")
    ] = Path("lexicon/main"),
    vectors: Annotated[str, typer.Option(help="File of character vectors to start from; empty for none.")] = "",
    seed: Annotated[int, typer.Option()] = 0,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    options: Annotated[str, typer.Option(help="More settings: '--pretraining.objective.share 0.4 …'.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Resume a stopped run in that folder, if any.")] = False,
) -> None:
    """Run `spacy pretrain` for a number of updates, then `spacy lexner export-hf`."""
    has_matcher = "lex_matcher" in load_config(config)["nlp"]["pipeline"]
    needs_lexicon = has_matcher or masking != "piece"
    if needs_lexicon and not lexicon.is_dir():
        reason = f"{config.name} reads one" if masking == "piece" else f"masking {masking!r} takes whole words from it"
        msg.fail(f"There is no lexicon {lexicon}", f"It is needed, since {reason}.", exits=1)
    n_epochs = max(1, -(-steps // save_every))
    settings = {
        "paths.raw_text": text,
        "pretraining.max_epochs": n_epochs,
        "pretraining.batcher.n_batches": -(-steps // n_epochs),
        "pretraining.optimizer.learn_rate.total_steps": n_epochs * -(-steps // n_epochs),
        "pretraining.objective.total_updates": n_epochs * -(-steps // n_epochs),
        "pretraining.objective.masking": masking,
        "pretraining.objective.log_path": output / "losses.jsonl",
        "system.seed": seed,
    }
    if needs_lexicon:
        settings["paths.lexicon" if has_matcher else "pretraining.objective.lexicon"] = lexicon
    if vectors:
        settings["components.tok2vec.model.piece_vectors"] = vectors
    config = complete(config, output.with_name(f"{output.name}.cfg"))
    command: List[str] = ["pretrain", str(config), str(output), "--gpu-id", str(gpu_id)]
    for name, value in settings.items():
        command += [f"--{name}", str(value)]
    command += shlex.split(options)
    last = last_checkpoint(output)
    if last is not None and not resume:
        msg.fail(f"{output} already contains a run", "Resume it with --resume, or remove the folder.", exits=1)
    if last is not None:
        command += ["--resume-path", str(last)]
    run(command)
    run(["lexner", "export-hf", str(output / "model-last.bin"), str(checkpoint), "--force"])


def run(command: List[str]) -> None:
    result = subprocess.run([sys.executable, "-m", "spacy", *command], check=False)
    if result.returncode:
        raise typer.Exit(result.returncode)


if __name__ == "__main__":
    typer.run(main)
