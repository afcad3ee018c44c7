"""`spacy lexner lexicon diff`: what changed from one lexicon to another."""

from pathlib import Path
from typing import Annotated, Any, Dict

import srsly
import typer
from wasabi import msg

from ...lexicon.compare import compare, describe_diff
from ...lexicon.lexicon import Lexicon
from ..shared import JsonOption, failing, status


def diff_cli(
    old_path: Annotated[Path, typer.Argument(metavar="OLD", help="The folder of a lexicon")],
    new_path: Annotated[Path, typer.Argument(metavar="NEW", help="The folder of another lexicon")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", help="Show at most this many words of each kind; 0 for all", min=0)
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show which words were added, removed and changed. The exit code is 0 if the lexicons are equal, 1 if they differ,
    2 if one cannot be read.

    \b
    Example:
      python -m spacy lexner lexicon diff lexicon-2023 lexicon-2024
    """
    with failing("The lexicons cannot be compared", code=2):
        old, new = Lexicon.open(old_path), Lexicon.open(new_path)
        with status("comparing"):
            diff = compare(old, new)
            found = describe_diff(diff, limit or None)
    settings = [
        f"{name}: {before} → {after}"
        for name, before, after in (
            ("dimensions", old.dim, new.dim),
            ("type of vectors", diff.old.vectors.dtype, diff.new.vectors.dtype),
            ("normalisation", old.normalization, new.normalization),
        )
        if before != after
    ]
    if as_json:
        typer.echo(srsly.json_dumps({**found, "settings": settings}))
    elif diff.empty and not settings:
        msg.good(f"The lexicons are equal: {len(old)} words")
    else:
        _print(found, limit)
        for line in settings:
            msg.info(line)
    if not diff.empty or settings:
        raise typer.Exit(1)


def _print(found: Dict[str, Any], limit: int) -> None:
    for kind, sign in (("added", "+"), ("removed", "-"), ("changed", "~")):
        if not found[f"n_{kind}"]:
            continue
        typer.echo(f"{found[f'n_{kind}']} {kind}")
        for word in found[kind]:
            typer.echo(f"  {sign} {word}" + (f": {found[kind][word]}" if kind == "changed" else ""))
        if found[f"n_{kind}"] > len(found[kind]):
            typer.echo(f"  {sign} … (--limit 0 for all)")
