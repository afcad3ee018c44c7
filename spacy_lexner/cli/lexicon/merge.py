"""`spacy lexner lexicon merge`: several lexicons into one."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer
from wasabi import msg

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.any_file import read_any
from ..shared import ForceOption, TargetArgument, failing, status
from .folder import replacing, save
from .sources import WatchedStream, report_skipped


def merge_cli(
    output: TargetArgument,
    paths: Annotated[List[Path], typer.Argument(metavar="LEXICON...", help="The folders of the lexicons")],
    dtype: Annotated[
        Optional[str], typer.Option(help="Type of vectors: float32 or float16; default: that of the first lexicon")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Merge lexicons. Of equal words the first counts, with the labels of all and the first vector that any of them
    has. Words and texts are compared as in the first lexicon.

    \b
    Example:
      python -m spacy lexner lexicon merge all general/ medicine/ --dtype float16
    """
    with failing("Nothing was written"), replacing(output, force):
        lexicons = [Lexicon.open(path) for path in paths]
        dims = {lexicon.dim: path for path, lexicon in zip(paths, lexicons) if lexicon.dim}
        if len(dims) > 1:
            found = ", ".join(f"{path} {dim}" for dim, path in dims.items())
            raise LexiconError(f"The vectors have different dimensions: {found}. Merge lexicons with equal ones.")
        with status(f"building {output}"):
            merged = Lexicon.from_entries(
                WatchedStream(map(read_any, paths)),
                dtype=dtype or str(lexicons[0].table.vectors.dtype),  # type: ignore[arg-type]
                normalization=lexicons[0].normalization,
                max_word_length=max(lexicon.max_word_length for lexicon in lexicons),
                merge=True,
            )
        save(merged, output, force)
    counts = ", ".join(f"{path} {len(lexicon)}" for path, lexicon in zip(paths, lexicons))
    msg.text(f"Words of {counts}; {sum(map(len, lexicons)) - len(merged)} of them more than once")
    report_skipped(merged.report, duplicates=False)
