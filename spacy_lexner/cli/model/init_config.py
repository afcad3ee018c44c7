"""`spacy lexner init-config`: a complete config for an encoder and a task."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer
from spacy.cli._util import import_code
from thinc.api import Config
from wasabi import msg

from ..shared import ForceOption, check_new, failing, find_given
from .make_config import complete, make_config, read_base
from .training_config import CodeOption

CORPORA = {
    "ner": "entities: `spacy lexner convert my_train.conll train.spacy`",
    "words": "words: `spacy lexner convert my_train.conllu train.spacy`",
    "joint": "entities, words or both: folders of files that `spacy lexner convert` writes",
    "spans": 'spans under "sc": `spacy lexner convert my_train.json train.spacy --spans-key sc`',
}


class Encoder(str, Enum):
    flat = "flat"
    soft_lexicon = "soft_lexicon"
    lebert = "lebert"
    bert = "bert"
    elmo = "elmo"
    ernie = "ernie"


class Task(str, Enum):
    ner = "ner"
    words = "words"
    joint = "joint"
    spans = "spans"


def init_config_cli(
    ctx: typer.Context,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The config to write, or - for standard output")],
    encoder: Annotated[Encoder, typer.Option("--encoder", "-e", help="What reads the text")] = Encoder.flat,
    task: Annotated[
        Task,
        typer.Option("--task", "-t", help="Entities; words and parts of speech; both, jointly; overlapping spans"),
    ] = Task.ner,
    checkpoint: Annotated[
        Optional[str],
        typer.Option(
            "--checkpoint", "-c", metavar="NAME", help="Pretrained encoder, folder or name; without it, random weights"
        ),
    ] = None,
    gpu: Annotated[bool, typer.Option("--gpu", "-G", help="Train in mixed precision, for a GPU")] = False,
    base: Annotated[
        Optional[str],
        typer.Option("--base", "-b", help="Complete this base of configs/, or this file, ignoring the options above"),
    ] = None,
    code: CodeOption = None,
    force: ForceOption = False,
) -> None:
    """Write a complete config for an encoder and a task, ready for `spacy train`.

    Encoders: flat, FLAT over characters and lexicon words; soft_lexicon, a BiLSTM over both; lebert, a BERT that
    reads lexicon words; bert, a plain BERT; elmo, a character language model; ernie, a BERT that reads the entities of
    a lexicon. Pairs that were measured together are used as they are; others join the encoder and optimizer of one
    config with the components of another.

    \b
    Examples:
      python -m spacy lexner init-config config.cfg
      python -m spacy lexner init-config config.cfg --encoder lebert --checkpoint hfl/chinese-macbert-base --gpu
      python -m spacy lexner init-config - --encoder bert --task joint
      python -m spacy lexner init-config pretrain.cfg --base pretrain_small
    """
    with failing("No config was written"):
        import_code(code)
        if str(output) != "-":
            check_new(output, force)
        if base is None:
            config = make_config(encoder.value, task.value, checkpoint=checkpoint, gpu=gpu)
        else:
            check_alone(ctx)
            config = complete(read_base(base))
        if str(output) == "-":
            typer.echo(config.to_str())
            return
        output.parent.mkdir(parents=True, exist_ok=True)
        config.to_disk(output)
    if base is not None:
        msg.good(f"{output}: {base}, completed")
        return
    msg.good(f"{output}: a config for {task.value} with {encoder.value}")
    print_next_steps(output, config, encoder.value, task.value, gpu)


def check_alone(ctx: typer.Context) -> None:
    """Raise ValueError if `--base` is given together with options that choose or change another config."""
    if given := find_given(ctx, ("encoder", "task", "checkpoint", "gpu")):
        raise ValueError(f"--base is completed as it is: leave out {', '.join(given)}, or --base.")


def print_next_steps(output: Path, config: Config, encoder: str, task: str, gpu: bool) -> None:
    """Print what the config still needs, and the command that trains it."""
    command = f"python -m spacy train {output} --output training --paths.train train.spacy --paths.dev dev.spacy"
    needed = [f"train.spacy and dev.spacy, texts with {CORPORA[task]}"]
    if "lexicon" in config["paths"]:
        command += " --paths.lexicon my_lexicon"
        kind = (
            "words with entity ids and entity vectors" if encoder == "ernie" else "words, with vectors if you have any"
        )
        needed.append(f"my_lexicon, a lexicon of {kind}: `spacy lexner lexicon build`")
    typer.echo("\n".join(["It needs:", *(f"- {line}" for line in needed), "Then train it:"]))
    typer.echo(command + (" --gpu-id 0" if gpu else ""))
