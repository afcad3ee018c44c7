"""`spacy lexner perplexity`: how well a pretrained biLM predicts a text."""

from pathlib import Path
from typing import Annotated, List

import srsly
import typer
from spacy.cli._util import import_code, parse_config_overrides, setup_gpu
from wasabi import msg

from ...integrity.model_files import read_model_file
from ...pretraining.text_corpus import TextCorpus
from ..shared import GpuOption, JsonOption, failing, status
from .pretraining_config import read_pretraining_config
from .training_config import CodeOption


def perplexity_cli(
    ctx: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="The config of the pretraining run")],
    weights: Annotated[Path, typer.Argument(metavar="MODEL", help="A file saved by that run, such as model-last.bin")],
    texts: Annotated[List[Path], typer.Option("--text", "-t", help="A text file, or a folder of them", metavar="PATH")],
    limit: Annotated[int, typer.Option(help="Read at most this many texts; 0 for all", metavar="N", min=0)] = 0,
    code: CodeOption = None,
    gpu_id: GpuOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Measure the perplexity (full softmax) of a biLM, pretrained with PretrainBiLM.v1, on unseen texts.

    Give the same config overrides as in spacy pretrain.

    \b
    Example:
      python -m spacy lexner perplexity pretrain.cfg pretrained/model-last.bin --text dev.txt --paths.words words.tsv
    """
    from ...pretraining.perplexity import load_language_model, measure_perplexity  # torch: only where it is needed

    with failing("Nothing was measured"):
        overrides = parse_config_overrides(ctx.args)
        import_code(code)
        setup_gpu(gpu_id, silent=as_json)
        config = read_pretraining_config(config_path, overrides).interpolate()
        with status(f"loading {weights}"):
            read_model_file(weights)  # its error names the file
            nlp, model = load_language_model(config, weights)
        corpus = TextCorpus([str(path) for path in texts], limit=limit)
        result = measure_perplexity(model, (example.reference for example in corpus(nlp)))
    figures = {
        "perplexity": round(result.perplexity, 3),
        "bits_per_character": round(result.bits_per_character, 4),
        "unknown": round(result.n_unknown / result.n_tokens, 5),
        "tokens": result.n_tokens,
        "characters": result.n_characters,
    }
    if as_json:
        typer.echo(srsly.json_dumps(figures))
    else:
        msg.table(figures)
