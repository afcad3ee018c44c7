"""The command group `spacy lexner import`: published checkpoints, in our own formats."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer
from wasabi import msg

from .sections import make_group
from .shared import ForceOption, TargetArgument, failing

HELP = "Import published checkpoints: a LEBERT as a pipeline, an ELMo or an ERNIE as a folder for `checkpoint`."
importing = make_group("import", HELP)


@importing.command("lebert", no_args_is_help=True)
def import_lebert_cli(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CKPT", help="The state dict (.bin, .pt), or a folder with pytorch_model.bin")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The folder of the pipeline")],
    bert: Annotated[Path, typer.Option(metavar="DIR", help="Folder with config.json and vocab.txt of its BERT")],
    labels: Annotated[Path, typer.Option(metavar="FILE", help="Its labels, one per line, in the order of training")],
    lexicon: Annotated[
        List[Path], typer.Option(metavar="FILE", help="The lexicon of training, one word per line; repeatable")
    ],
    word_vocab: Annotated[
        Optional[Path],
        typer.Option(metavar="FILE", help="The word_vocab.txt that training wrote: which word has which vector"),
    ] = None,
    corpus: Annotated[
        Optional[List[Path]],
        typer.Option(metavar="FILE", help="Without --word-vocab: train.json, dev.json, test.json; repeatable"),
    ] = None,
    max_scan_num: Annotated[
        Optional[int], typer.Option(metavar="N", help="Lines of the lexicon that training read", min=1)
    ] = None,
    max_word_num: Annotated[int, typer.Option(metavar="N", help="Words per character in training", min=1)] = 5,
    force: ForceOption = False,
) -> None:
    """Turn a checkpoint of liuwei1206/LEBERT into a pipeline that finds the same entities as the authors' code.

    The weights file is read as tensors only. It does not record which word has which vector: give --word-vocab, or
    --corpus for each training data file.

    \b
    Example:
      python -m spacy lexner import lebert checkpoint-1900/pytorch_model.bin --bert bert-base-chinese
        --labels labels.txt --lexicon tencent_vocab.txt --max-scan-num 1000000 --word-vocab word_vocab.txt -o lebert
    """
    from ..checkpoints.lebert import import_lebert  # torch and transformers: only where they are needed

    with failing("Nothing was written"):
        nlp = import_lebert(
            checkpoint,
            output,
            bert=bert,
            labels=labels,
            lexicon=lexicon,
            word_vocab=word_vocab,
            corpus=corpus or [],
            limit=max_scan_num,
            max_words=max_word_num,
            overwrite=force,
        )
    found = ", ".join(nlp.pipe_labels["lex_ner"])
    msg.good(f"{output}: a pipeline with the labels {found}", f'Load it with spacy.load("{output}").')


@importing.command("elmo", no_args_is_help=True)
def import_elmo_cli(
    options: Annotated[Path, typer.Argument(metavar="OPTIONS", help="The options file (JSON)")],
    weights: Annotated[Path, typer.Argument(metavar="WEIGHTS", help="The weight file (HDF5)")],
    target: TargetArgument,
) -> None:
    """Convert official ELMo files to a folder with config.json and model.safetensors, for `checkpoint` of ELMo.v1.

    Needs h5py (pip install "spacy-lexner[elmo]"); using the folder does not.

    \b
    Example:
      python -m spacy lexner import elmo options.json weights.hdf5 checkpoints/elmo
    """
    from ..checkpoints.elmo import import_elmo  # torch: only where it is needed

    with failing("Nothing was written"):
        bilm = import_elmo(options, weights, target)["bilm"]
    msg.good(
        f"{target}: {bilm['n_layers']} layers of {bilm['cell_dim']}, projected to {bilm['projection_dim']}",
        f"Token vectors are {2 * bilm['projection_dim']} wide.",
    )


@importing.command("ernie", no_args_is_help=True)
def import_ernie_cli(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="Folder with pytorch_model.bin, ernie_config.json and vocab.txt")
    ],
    target: TargetArgument,
    entity_heads: Annotated[int, typer.Option(help="Heads of the entity self-attention", metavar="N")] = 4,
    cased: Annotated[bool, typer.Option("--cased", help="The vocabulary is case-sensitive")] = False,
    force: ForceOption = False,
) -> None:
    """Convert a checkpoint of thunlp/ERNIE to a folder for `checkpoint` of spacy-lexner.ERNIE.v1.

    Weights are written as safetensors. Entity vectors are not included: they belong in the lexicon.

    \b
    Example:
      python -m spacy lexner import ernie ernie_base checkpoints/ernie
    """
    from ..checkpoints.ernie import import_ernie  # torch and transformers: only where they are needed

    with failing("Nothing was written"):
        encoder = import_ernie(source, target, entity_heads=entity_heads, lower_case=not cased, overwrite=force)
    msg.good(f"{target}: layers {' '.join(encoder.layer_types)}, entity vectors of {encoder.entity_width} dimensions")
