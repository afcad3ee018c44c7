"""`spacy lexner import lebert`: a checkpoint of the code of LEBERT's authors as a running pipeline."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer
from wasabi import msg

CheckpointArgument = Annotated[
    Path, typer.Argument(metavar="CKPT", help="The state dict (.bin, .pt), or a folder with pytorch_model.bin")
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The folder of the pipeline")]
BertOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder with config.json and vocab.txt of its BERT")]
LabelsOption = Annotated[Path, typer.Option(metavar="FILE", help="Its labels, one a line, in the order of training")]
LexiconOption = Annotated[
    List[Path], typer.Option(metavar="FILE", help="The lexicon of training: a word a line; may be given again")
]
VocabOption = Annotated[
    Optional[Path], typer.Option(metavar="FILE", help="The word_vocab.txt that training wrote: which vector is whose")
]
CorpusOption = Annotated[
    Optional[List[Path]],
    typer.Option(metavar="FILE", help="Instead: train.json, dev.json and test.json; give the option for each"),
]
ScanOption = Annotated[
    Optional[int], typer.Option("--max-scan-num", metavar="N", help="As in training: lines of the lexicon", min=1)
]
WordsOption = Annotated[
    int, typer.Option("--max-word-num", metavar="N", help="As in training: words of a character", min=1)
]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace a folder that is there already")]


def import_lebert_cli(
    checkpoint: CheckpointArgument,
    output: OutputOption,
    bert: BertOption,
    labels: LabelsOption,
    lexicon: LexiconOption,
    word_vocab: VocabOption = None,
    corpus: CorpusOption = None,
    max_scan_num: ScanOption = None,
    max_word_num: WordsOption = 5,
    force: ForceOption = False,
) -> None:
    """Turn a checkpoint of liuwei1206/LEBERT into a pipeline that finds what the authors' code finds.

    The file of weights is read as tensors and nothing else. Which word has which vector is not in it: give
    --word-vocab, or --corpus for each data file of training.

    \b
    Example:
      python -m spacy lexner import lebert checkpoint-1900/pytorch_model.bin --bert bert-base-chinese
        --labels labels.txt --lexicon tencent_vocab.txt --max-scan-num 1000000 --word-vocab word_vocab.txt -o lebert
    """
    from ...checkpoints.lebert import import_lebert  # torch and transformers: only where they are wanted

    try:
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
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    found = ", ".join(nlp.pipe_labels["lex_ner"])
    msg.good(f"{output}: a pipeline with the labels {found}", f'Load it with spacy.load("{output}").')
