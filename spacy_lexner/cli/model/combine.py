"""`spacy lexner combine`: an ensemble of trained pipelines."""

from pathlib import Path
from typing import Annotated, Dict, List

import typer
from spacy.language import Language
from wasabi import msg

from ...integrity.pipelines import save
from ...pipeline.ner.combine import combine
from ..shared import ForceOption, check_new, failing, load_pipeline, status


def combine_cli(
    models: Annotated[List[str], typer.Argument(metavar="MODELS", help="Pipelines with lex_ner: folders or names")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The folder of the new pipeline")],
    component: Annotated[
        str, typer.Option("--component", "-n", metavar="NAME", help="The name of their lex_ner")
    ] = "lex_ner",
    force: ForceOption = False,
) -> None:
    """Combine trained pipelines into one that averages their taggers' scores, and takes as much time and memory as all.

    They must share labels, units, tokenizer and lexicon; anything else may differ. Everything except the models comes
    from the first pipeline.

    \b
    Example:
      python -m spacy lexner combine flat/model-best lebert/model-best -o training/both
    """
    with failing("Nothing was combined"):
        check_new(output, force, map(Path, models))
        pipelines: Dict[str, Language] = {}
        for model in models:
            if any(Path(model).resolve() == Path(other).resolve() for other in pipelines):
                raise ValueError(f"{model} is given twice.")
            pipelines[model] = load_pipeline(model)
        nlp = combine(pipelines, component)
        with status(f"writing {output}"):
            save(nlp, output)
    msg.good(f"{output}: {len(models)} pipelines together")
