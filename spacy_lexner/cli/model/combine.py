"""`spacy lexner combine`: trained pipelines that predict together."""

from pathlib import Path
from typing import Annotated, Dict, List

import typer
from spacy.language import Language
from wasabi import msg

from ...checkpoints.folders import whole_folder
from ...pipeline.ner.combine import combine
from ..pipelines import load_pipeline

ModelsArgument = Annotated[List[str], typer.Argument(metavar="MODELS", help="Pipelines with lex_ner: folders or names")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The folder of the new pipeline")]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace a folder that is there already")]
ComponentOption = Annotated[str, typer.Option("--component", "-n", metavar="NAME", help="The name of their lex_ner")]


def combine_cli(
    models: ModelsArgument, output: OutputOption, component: ComponentOption = "lex_ner", force: ForceOption = False
) -> None:
    """Put trained pipelines together to one whose entities they find together: the scores of their taggers are
    averaged. It takes the time and the memory of all. They have the same labels, tokenizer and lexicon, and may differ
    in anything else. All but the models is the first one's.

    \b
    Example:
      python -m spacy lexner combine flat/model-best lebert/model-best -o training/both
    """
    try:
        if output.exists() and not force:
            raise ValueError(f"{output} is there already. Give another folder, or overwrite it on purpose (--force).")
        pipelines: Dict[str, Language] = {}
        for model in models:
            if model in pipelines:
                raise ValueError(f"{model} is given twice.")
            pipelines[model] = load_pipeline(model)
        nlp = combine(pipelines, component)
        with whole_folder(output, overwrite=force) as folder:
            nlp.to_disk(folder)
    except (ValueError, OSError, ImportError) as error:
        msg.fail("Nothing was combined", str(error), exits=1)
    msg.good(f"{output}: {len(models)} pipelines together")
