"""`spacy lexner quantize`: turn a trained pipeline into 8 bits."""

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ...integrity.pipelines import save
from ..shared import ForceOption, TargetArgument, check_new, failing, load_pipeline, status


def quantize_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A trained pipeline with LEBERT or ERNIE")],
    target: TargetArgument,
    force: ForceOption = False,
) -> None:
    """Write a pipeline whose BERT computes in 8 bits: faster on a CPU, and a quarter of the size.

    Components without a torch module are copied. An 8-bit pipeline can predict, but not be trained.

    \b
    Example:
      python -m spacy lexner quantize training/model-best training/model-int8
    """
    from ...checkpoints.int8 import quantize  # torch: only where it is needed

    with failing("Nothing was written"):
        check_new(target, force, [Path(model)])
        nlp = load_pipeline(model)
        with status(f"writing {target}"):
            done = quantize(nlp)
            save(nlp, target)
    msg.good(f"{target}: {', '.join(done)} in 8 bits")
