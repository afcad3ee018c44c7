"""`spacy lexner pretrain`: `spacy pretrain` in several processes."""

import os
from pathlib import Path
from typing import Annotated, Optional

import typer
from spacy.cli._util import import_code, parse_config_overrides
from spacy.cli.pretrain import verify_cli_args

from ...integrity.model_files import read_model_file
from ..shared import GpuOption, failing
from .pretraining_config import read_pretraining_config


def pretrain_cli(
    ctx: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="A config with a [pretraining] section")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder for the files of the run")],
    code_path: Annotated[
        Optional[Path], typer.Option("--code", "-c", help="Python file with registered functions", metavar="FILE")
    ] = None,
    resume_path: Annotated[
        Optional[Path], typer.Option("--resume-path", "-r", help="A file of the run to resume from", metavar="FILE")
    ] = None,
    epoch_resume: Annotated[
        Optional[int], typer.Option("--epoch-resume", "-er", help="The epoch to resume at", metavar="N")
    ] = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Pretrain on raw text, as spacy pretrain does, in one process or, with a launcher, in several.

    Each process reads its share of the batches, and updates use the mean of their gradients. With N processes, batches
    are N times as large and an epoch has 1/N of the updates: adapt total_steps of the learning rate. --gpu-id 0 gives
    each process its own GPU. Config settings can be overridden.

    \b
    Examples:
      python -m spacy lexner pretrain pretrain.cfg pretrained --paths.raw_text text.txt
      accelerate launch --num_processes 4 -m spacy lexner pretrain pretrain.cfg pretrained --gpu-id 0
      torchrun --nproc-per-node 2 -m spacy lexner pretrain pretrain.cfg pretrained
    """
    from ...pretraining.parallel import pretrain_together  # torch: only where it is needed

    with failing("Nothing was pretrained"):
        overrides = parse_config_overrides(ctx.args)
        import_code(code_path)
        config = read_pretraining_config(config_path, overrides)
        if resume_path is not None:
            read_model_file(resume_path)  # its error names the file
        if os.environ.get("RANK", "0") == "0":  # of the processes of a launcher, the first writes and warns
            verify_cli_args(config_path, output, resume_path, epoch_resume)
            output.mkdir(parents=True, exist_ok=True)
            config.to_disk(output / "config.cfg")  # first, so that a killed run has it
        pretrain_together(
            config.interpolate(),
            output,
            resume_path=resume_path,
            epoch_resume=epoch_resume,
            gpu_id=gpu_id,
            silent=False,
        )
