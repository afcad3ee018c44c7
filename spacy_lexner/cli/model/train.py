"""`spacy lexner train`: `spacy train` that can be killed at any moment and resumed."""

from pathlib import Path
from typing import Annotated, Optional

import typer
from spacy.cli._util import import_code, parse_config_overrides, setup_gpu, show_validation_error
from spacy.training.loop import DIR_MODEL_LAST
from spacy.util import load_config
from wasabi import msg

from ..shared import GpuOption, failing, status


def train_cli(
    ctx: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="The config of the training", exists=True)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="For model-best and model-last")],
    resume: Annotated[
        bool,
        typer.Option("--resume", "-r", help="Resume an interrupted training, if there is one"),
    ] = False,
    code: Annotated[
        Optional[Path], typer.Option("--code", "-c", metavar="FILE", help="Python code with registered functions")
    ] = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Train a pipeline as `spacy train` does, with the same config, overrides and results.

    Each evaluation saves everything that later steps depend on to DIR/checkpoint. Killed at any moment and started
    again with --resume, training ends with the same weights as without a break: bit for bit on a CPU with the same
    versions and threads. model-best and model-last are replaced atomically and sealed (`lexner verify`).

    \b
    Example:
      python -m spacy lexner train config.cfg --output training --paths.train train.spacy --paths.dev dev.spacy --resume
    """
    with failing("The training cannot start"):
        from ...training.checkpoint import Checkpoint
        from ...training.initialization import initialize
        from ...training.loop import CHECKPOINT, Run, finish

        overrides = parse_config_overrides(ctx.args)
        import_code(code)
        setup_gpu(gpu_id)
        with show_validation_error(config_path):
            config = load_config(config_path, overrides=overrides, interpolate=False)
        folder = output / CHECKPOINT
        checkpoint = Checkpoint(folder) if resume and folder.exists() else None
        if checkpoint is not None:
            checkpoint.check(config)
            with status(f"loading {folder}"):
                run = Run(checkpoint.load_pipeline(), config, checkpoint=checkpoint, use_gpu=gpu_id)
            msg.info(f"Resuming after step {checkpoint.progress.step} of {folder}")
        else:
            output.mkdir(parents=True, exist_ok=True)
            if resume and (output / DIR_MODEL_LAST).exists():
                msg.info(f"There is no {folder}: training starts again, and will replace the models in {output}")
            with status("initializing the pipeline"), show_validation_error(config_path, hint_fill=False):
                run = Run(initialize(config, use_gpu=gpu_id), config, use_gpu=gpu_id)
            msg.good("Initialized pipeline", f"Pipeline: {run.nlp.pipe_names}")
    finish(run, output)
    msg.good("Saved pipelines", f"{output / 'model-best'}, {output / 'model-last'}")
