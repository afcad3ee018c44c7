"""`spacy lexner words suggest`: missing words that would help most."""

from pathlib import Path
from typing import Annotated, List, Optional, Sequence

import srsly
import typer
from spacy.cli._util import setup_gpu
from wasabi import msg

from ...lexicon.rules import HINT, PREFER
from ...rules.suggest import Suggestion, suggest
from ..sections import make_group
from ..shared import ForceOption, GpuOption, JsonOption, TextFormatOption, check_new, failing, load_pipeline, read_texts

HELP = "Find words worth adding to a lexicon."
WEIGHT = 2.0  # of a suggested word with a label

words = make_group("words", HELP)


@words.callback()
def words_group() -> None:
    """Find words worth adding to a lexicon."""


@words.command("suggest", no_args_is_help=True)
def suggest_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with lex_matcher and lex_ner")],
    texts: Annotated[List[Path], typer.Argument(metavar="TEXTS...", help="Files or folders of texts")],
    n: Annotated[int, typer.Option("--number", "-n", help="How many words to suggest", min=1)] = 50,
    tried: Annotated[int, typer.Option("--tried", help="How many to try, most uncertain first", min=1)] = 500,
    output: Annotated[
        Optional[Path], typer.Option("--output", "-o", metavar="FILE", help="Write them as a dictionary file")
    ] = None,
    format: TextFormatOption = "auto",
    as_json: JsonOption = False,
    force: ForceOption = False,
    gpu_id: GpuOption = -1,
) -> None:
    """Suggest words that the lexicon lacks and that would reduce the model's uncertainty most: the model reads the
    texts again with each word added.

    In the dictionary file, a word that becomes an entity has the rule prefer with its label; others are hints. Delete
    what you do not accept, and load the file with matcher.load_rules, or rules in the config.

    \b
    Example:
      python -m spacy lexner words suggest training/model-best texts.txt -o suggested.tsv
    """
    with failing("No words are suggested"):
        check_new(output, force)
        setup_gpu(gpu_id, silent=True)
        nlp = load_pipeline(model)
        found = suggest(nlp, list(dict.fromkeys(read_texts(texts, format))), n, n_tried=tried)
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text("".join(map(rule_line, found)), "utf8")
    if as_json:
        typer.echo(srsly.json_dumps([each._asdict() for each in found]))
    else:
        print_suggestions(found)
    if output is not None and not as_json:
        msg.good(f"{output}: a dictionary file of {len(found)} words")


def rule_line(suggestion: Suggestion) -> str:
    """Format a suggestion as a line of a dictionary file."""
    rule = f"{PREFER}\t{suggestion.label}\t{WEIGHT}" if suggestion.label else f"{HINT}\t\t"
    return f"{suggestion.word}\t{rule}\n"


def print_suggestions(found: Sequence[Suggestion]) -> None:
    """Print a table row for each word."""
    if not found:
        msg.warn("No word would make the model surer: its encoder may read no words, or nothing here is uncertain.")
        return
    rows = [
        [each.word, each.label or "–", f"{each.probability:.2f}", f"{each.gain:.2f}", each.n_texts, each.example[:30]]
        for each in found
    ]
    header = ["word", "label", "probability", "bits", "texts", "example"]
    msg.table(rows, header=header, divider=True, aligns=("l", "l", "r", "r", "r", "l"))
