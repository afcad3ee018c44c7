"""`spacy lexner lexicon prune`: the words of a lexicon that occur in texts."""

from pathlib import Path
from typing import Annotated, List

import typer
from tqdm import tqdm
from wasabi import msg

from ...lexicon.lexicon import Lexicon
from ..texts import TextFormatOption, read_texts
from .folder import ForceOption, LexiconArgument, OutputArgument, check_output, save

CorpusOption = Annotated[
    List[Path],
    typer.Option("--corpus", "-c", help=".spacy, text or annotated files, or folders of them; may be given again"),
]


def prune_cli(
    path: LexiconArgument,
    output: OutputArgument,
    corpus: CorpusOption,
    format: TextFormatOption = "auto",
    force: ForceOption = False,
) -> None:
    """Keep the words of a lexicon that occur in a corpus: a smaller one for texts that are all known. Words that only
    new texts hold are lost.

    \b
    Example:
      python -m spacy lexner lexicon prune lexicon small-lexicon --corpus corpus/train.spacy --corpus corpus/dev.spacy
    """
    try:
        check_output(output, force)
        lexicon = Lexicon.open(path)
        texts = read_texts(corpus, format)
        pruned = lexicon.prune(tqdm(texts, desc="corpus", unit=" texts", disable=None, leave=False))
        save(pruned, output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    msg.text(f"{len(pruned)} of {len(lexicon)} words occur in the corpus")
