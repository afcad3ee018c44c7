"""`spacy lexner import ernie`: a published ERNIE as a folder that ERNIE.v1 reads."""

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

SourceArgument = Annotated[
    Path, typer.Argument(metavar="IN", help="Folder with pytorch_model.bin, ernie_config.json and vocab.txt")
]
TargetArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]
HeadsOption = Annotated[int, typer.Option(help="Heads of the entity self-attention", metavar="N")]
CasedOption = Annotated[bool, typer.Option("--cased", help="The vocabulary tells upper from lower case")]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace a folder that is there already")]


def import_ernie_cli(
    source: SourceArgument,
    target: TargetArgument,
    entity_heads: HeadsOption = 4,
    cased: CasedOption = False,
    force: ForceOption = False,
) -> None:
    """Turn a checkpoint of thunlp/ERNIE into a folder for `checkpoint` of spacy-lexner.ERNIE.v1.

    Its weights are written as safetensors. Entity vectors are not part of it: they belong into the lexicon.

    \b
    Example:
      python -m spacy lexner import ernie ernie_base checkpoints/ernie
    """
    from ...checkpoints.ernie import import_ernie  # torch and transformers: only where they are wanted

    try:
        encoder = import_ernie(source, target, entity_heads=entity_heads, lower_case=not cased, overwrite=force)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    msg.good(f"{target}: layers {' '.join(encoder.layer_types)}, entity vectors of {encoder.entity_width} dimensions")
