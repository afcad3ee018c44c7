"""`spacy lexner export-hf`: a pretrained or trained encoder as a Hugging Face folder."""

from pathlib import Path
from typing import Annotated, Optional

import typer
from wasabi import msg

from ..shared import ForceOption, TargetArgument, failing, status


def export_hf_cli(
    source: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file of `spacy pretrain` (model-last.bin), or a saved pipeline")
    ],
    target: TargetArgument,
    component: Annotated[
        Optional[str],
        typer.Option("--component", "-n", help="The component that holds the encoder, if several do", metavar="NAME"),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write an encoder as a Hugging Face folder (config.json, model.safetensors, vocab.txt).

    transformers loads it with AutoModel.from_pretrained, our encoders with `checkpoint`. Lexicon adapters are left
    out; the entity side of an ERNIE is written next to its text side.

    \b
    Example:
      python -m spacy lexner export-hf pretrained/model-last.bin checkpoints/my-bert
    """
    from ...checkpoints.huggingface import export_huggingface  # torch and transformers: only where they are needed

    with failing("Nothing was written"), status(f"writing {target}"):
        saved = export_huggingface(source, target, component=component, overwrite=force)
    config = saved.model.config
    kind = config.model_type if saved.entity_side is None else "ernie"
    msg.good(
        f"{target}: {kind}, {config.num_hidden_layers} layers of {config.hidden_size}, {config.vocab_size} wordpieces"
    )
