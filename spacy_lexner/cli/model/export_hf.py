"""`spacy lexner export-hf`: a pretrained or trained encoder as a Hugging Face folder."""

from pathlib import Path
from typing import Annotated, Optional

import typer
from wasabi import msg

SourceArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file of `spacy pretrain` (model-last.bin), or a saved pipeline")
]
TargetArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]
ComponentOption = Annotated[
    Optional[str],
    typer.Option("--component", "-n", help="The component that holds the encoder, if several do", metavar="NAME"),
]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace a folder that is there already")]


def export_hf_cli(
    source: SourceArgument, target: TargetArgument, component: ComponentOption = None, force: ForceOption = False
) -> None:
    """Write an encoder as a Hugging Face folder (config.json, model.safetensors, vocab.txt).

    transformers loads it with AutoModel.from_pretrained, and our encoders with `checkpoint`. Lexicon adapters are no
    part of it; the entity side of an ERNIE is written beside its text side.

    \b
    Example:
      python -m spacy lexner export-hf pretrained/model-last.bin checkpoints/my-bert
    """
    from ...checkpoints.huggingface import export_huggingface  # torch and transformers: only where they are wanted

    try:
        saved = export_huggingface(source, target, component=component, overwrite=force)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    config = saved.model.config
    kind = config.model_type if saved.entity_side is None else "ernie"
    msg.good(
        f"{target}: {kind}, {config.num_hidden_layers} layers of {config.hidden_size}, {config.vocab_size} wordpieces"
    )
