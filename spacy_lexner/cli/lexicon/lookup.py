"""`spacy lexner lexicon lookup`: what a lexicon knows about words, or which of its words a text holds."""

from typing import Annotated, Any, Dict, List, Optional

import numpy as np
import srsly
import typer
from wasabi import msg

from ...lexicon.compare import describe_rules
from ...lexicon.entry import LexiconEntry
from ...lexicon.lexicon import Lexicon
from ..shared import JsonOption, failing
from .folder import LexiconArgument, reading


def lookup_cli(
    path: LexiconArgument,
    words: Annotated[Optional[List[str]], typer.Argument(metavar="WORD...", help="Words to look up")] = None,
    text: Annotated[
        Optional[str], typer.Option("--text", "-t", help="Look up all words in this text", metavar="TEXT")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Look up words. The exit code is 1 if one is unknown, or if the text has none.

    \b
    Examples:
      python -m spacy lexner lexicon lookup lexicon 长江大桥 南京市
      python -m spacy lexner lexicon lookup lexicon --text 南京市长江大桥
    """
    with failing("The lexicon cannot be read", code=2), reading(path):
        lexicon = Lexicon.open(path)
        asked = list(dict.fromkeys([*(words or []), *(find(lexicon, text) if text is not None else [])]))
        entries = {word: lexicon.get(word) for word in asked}
    known = {word: describe(entry) for word, entry in entries.items() if entry is not None}
    unknown = [word for word in asked if word not in known]
    if as_json:
        typer.echo(srsly.json_dumps({"words": known, "unknown": unknown}))
    elif known:
        rows = [[*map(_cell, row.values()), word] for word, row in known.items()]
        msg.table(rows, header=["weight", "labels", "entity id", "vector norm", "rules", "word"], divider=True)
    if unknown and not as_json:
        msg.fail(f"Not in the lexicon: {', '.join(unknown)}")
    elif not asked and not as_json:
        msg.fail("The text has no lexicon words." if text is not None else "Give words, or a text (--text).")
    if unknown or not asked:
        raise typer.Exit(1)


def find(lexicon: Lexicon, text: str) -> List[str]:
    """Find the lexicon words of a text, in text order and in the text's spelling."""
    found = lexicon.match(text)
    return [text[start:end] for start, end in zip(found.starts.tolist(), found.ends.tolist())]


def describe(entry: LexiconEntry) -> Dict[str, Any]:
    """Describe a lexicon entry, ready for JSON; of its vector, only the norm."""
    norm = None if entry.vector is None else round(float(np.linalg.norm(entry.vector.astype("f4"))), 4)
    return {
        "weight": float(str(np.float32(entry.weight))),  # as few digits as tell it from other weights
        "labels": list(entry.labels),
        "entity_id": entry.entity_id,
        "vector_norm": norm,
        "rules": describe_rules(entry.rules),
    }


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else "" if value is None else value
