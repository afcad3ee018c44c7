"""`spacy lexner distil`: a small, fast student of a large or ensemble teacher."""

from pathlib import Path
from typing import Annotated, List

import typer
from spacy.cli._util import import_code, setup_gpu
from wasabi import msg

from ..shared import GpuOption, SeedOption, SkipSharedOption, TextFormatOption, check_apart, failing, read_texts
from .training_config import (
    CodeOption,
    ConfigOption,
    DevOption,
    LabelledOption,
    LimitOption,
    SetOption,
    read_values,
    training_config,
)


def distil_cli(
    teacher: Annotated[
        str,
        typer.Argument(metavar="TEACHER", help="A pipeline with lex_ner, by folder or name, large or an ensemble"),
    ],
    texts: Annotated[List[Path], typer.Argument(metavar="TEXTS...", help="Files or folders of texts")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder for all that is written")],
    config: ConfigOption = "flat",
    dev: DevOption = None,
    labelled: LabelledOption = None,
    limit: LimitOption = 50_000,
    weight: Annotated[float, typer.Option(help="Weight of the teacher relative to annotations", min=0.0)] = 1.0,
    skip_shared: SkipSharedOption = False,
    seed: SeedOption = 0,
    format: TextFormatOption = "auto",
    values: SetOption = None,
    code: CodeOption = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Train a student on the teacher's exact tag probabilities for each character. OUT/model is the student. After an
    interruption, run the same command again to continue.

    \b
    Example:
      python -m spacy lexner distil training/three corpus/train.spacy texts.txt student --dev corpus/dev.spacy
    """
    with failing("Nothing was learned"):
        from ...scale.model_files import hash_model
        from ...training.run_inputs import list_files
        from ...weak.distil import distil

        check_apart(output, [*texts, *filter(None, (labelled, dev))])
        overrides = read_values(values or [])
        import_code(code)
        setup_gpu(gpu_id, silent=True)
        student = distil(
            Path(teacher),  # the same however its folder is spelled
            read_texts(texts, format),
            training_config(config, overrides, output),
            output,
            dev=dev,
            labelled=labelled,
            limit=limit,
            weight=weight,
            skip_shared=skip_shared,
            seed=seed,
            sources=[hash_model(teacher), *list_files(texts), format],
            use_gpu=gpu_id,
        )
    msg.good(f"{student}: the student")
