"""`spacy lexner export-onnx`: a trained LEBERT as an ONNX graph."""

from typing import Annotated

import typer
from wasabi import msg

from ..shared import ForceOption, TargetArgument, failing, load_pipeline, status


def export_onnx_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A trained pipeline with LEBERT")],
    target: TargetArgument,
    component: Annotated[str, typer.Option("--component", "-n", metavar="NAME", help="The tagger")] = "lex_ner",
    force: ForceOption = False,
) -> None:
    """Write a tagger's encoder and emissions as a folder with model.onnx, and model.json with everything else it needs.

    The entity search and the word lookup are not part of the graph.

    \b
    Example:
      python -m spacy lexner export-onnx training/model-best onnx/model
    """
    from ...checkpoints.onnx import export_onnx  # torch: only where it is needed

    with failing("Nothing was written"):
        nlp = load_pipeline(model)
        with status(f"writing {target}"):
            made = export_onnx(nlp, target, component=component, overwrite=force)
    words = f"words of {made['word_width']} dimensions" if made["word_width"] else "no words"
    msg.good(f"{target}: opset {made['opset']}, {len(made['labels'])} labels, {words}")
