"""`spacy lexner rules diff`: which entities of a corpus change with a dictionary."""

from collections import Counter
from pathlib import Path
from typing import Annotated, List, Optional

import srsly
import typer
from wasabi import msg

from ...lexicon.rule_file import read_rules
from ...rules.changes import Change, Dictionaries
from ..shared import (
    ForceOption,
    JsonOption,
    TextFormatOption,
    check_new,
    failing,
    load_pipeline,
    progress,
    read_texts,
)
from .dictionaries import use_rules

CONTEXT = 12  # characters shown on either side of a change


def diff_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with lex_matcher and lex_ner")],
    paths: Annotated[
        List[Path], typer.Argument(metavar="RULES [NEW_RULES] TEXTS", help="One or two dictionary files, and texts")
    ],
    format: TextFormatOption = "auto",
    output: Annotated[
        Optional[Path], typer.Option("--output", "-o", metavar="FILE", help="Write all changes, one JSON object a line")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Show at most this many changes; 0 for all", min=0)] = 20,
    as_json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Show which entities change, because of which words, and their probabilities before and after. The exit code is 0
    if none changes, 1 if some do, 2 if something cannot be read.

    With RULES alone, the saved pipeline is compared with the pipeline under RULES, which replace its rules from files;
    with NEW_RULES, the pipeline under RULES is compared with the pipeline under NEW_RULES. A word is named as a cause
    if restoring this word alone undoes the change.

    \b
    Example:
      python -m spacy lexner rules diff training/model-best rules.tsv new_rules.tsv texts.txt
    """
    with failing("The dictionaries cannot be compared", code=2):
        if not 2 <= len(paths) <= 3:
            raise ValueError(f"{len(paths)} paths after MODEL: expected RULES TEXTS or RULES NEW_RULES TEXTS.")
        check_new(output, force)
        *files, texts = paths
        before, after = load_pipeline(model), load_pipeline(model)
        old_words = use_rules(after, files[-1])
        if len(files) == 2:
            use_rules(before, files[0])
        words = {row.word for file in files for row in read_rules(file)} | old_words
        found = list(read_texts([texts], format))
        changes = list(progress(Dictionaries(before, after, words).find_changes(found), unit=" changes"))
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            srsly.write_jsonl(output, [change._asdict() for change in changes])
    if as_json:
        typer.echo(srsly.json_dumps({"texts": len(found), "changes": [change._asdict() for change in changes]}))
    else:
        _print(changes, len(found), limit)
    if changes:
        raise typer.Exit(1)


def _print(changes: List[Change], n_texts: int, limit: int) -> None:
    for change in changes[: limit or None]:
        start, end = max(0, change.start - CONTEXT), change.end + CONTEXT
        shown = f"{change.text[start : change.start]}[{change.text[change.start : change.end]}]"
        typer.echo(
            f"{'+' if change.added else '-'} {change.label} {shown}{change.text[change.end : end]}  "
            f"{change.before:.2f} → {change.after:.2f}  ({', '.join(change.words)})"
        )
    if limit and len(changes) > limit:
        typer.echo(f"… {len(changes) - limit} more (--limit 0 for all)")
    if not changes:
        msg.good(f"No entity changes in {n_texts} texts")
        return
    n_changed = len({change.number for change in changes})
    n_added = sum(change.added for change in changes)
    msg.info(f"{n_added} entities added, {len(changes) - n_added} lost, in {n_changed} of {n_texts} texts")
    by_word = Counter(word for change in changes for word in change.words)
    msg.table(by_word.most_common(limit or None), header=["word", "changes"], divider=True, aligns=("l", "r"))
