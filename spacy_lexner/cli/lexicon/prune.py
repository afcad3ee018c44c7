"""`spacy lexner lexicon prune`: reduce a lexicon to the words that occur in a corpus."""

from pathlib import Path
from typing import Annotated, List

import typer
from wasabi import msg

from ...lexicon.lexicon import Lexicon
from ..shared import ForceOption, TargetArgument, TextFormatOption, failing, progress, read_texts
from .folder import LexiconArgument, reading, replacing, save


def prune_cli(
    path: LexiconArgument,
    output: TargetArgument,
    corpus: Annotated[
        List[Path],
        typer.Option("--corpus", "-c", help=".spacy, text or annotated files, or folders of them; repeatable"),
    ],
    format: TextFormatOption = "auto",
    force: ForceOption = False,
) -> None:
    """Keep only the lexicon words that occur in a corpus. For a fixed set of texts: words of other texts are lost.

    \b
    Example:
      python -m spacy lexner lexicon prune lexicon small-lexicon --corpus corpus/train.spacy --corpus corpus/dev.spacy
    """
    with failing("Nothing was written"), replacing(output, force), reading(path):
        lexicon = Lexicon.open(path)
        pruned = lexicon.prune(progress(read_texts(corpus, format), "corpus"))
        save(pruned, output, force)
    msg.text(f"{len(pruned)} of {len(lexicon)} words occur in the corpus")
