"""`spacy lexner lexicon merge`: several lexicons in one."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer
from wasabi import msg

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.any_file import read_any
from .folder import ForceOption, OutputArgument, WatchedStream, check_output, save, tell_skipped

LexiconsArgument = Annotated[List[Path], typer.Argument(metavar="LEXICON...", help="The folders of the lexicons")]
DtypeOption = Annotated[
    Optional[str],
    typer.Option(help="How vectors are stored: float32 or float16; by default as in the first", metavar="NAME"),
]


def merge_cli(
    output: OutputArgument, paths: LexiconsArgument, dtype: DtypeOption = None, force: ForceOption = False
) -> None:
    """Merge lexicons. Of equal words the first counts; its vector is the first that any of them has.

    Words and texts are compared as in the first lexicon.

    \b
    Example:
      python -m spacy lexner lexicon merge all general/ medicine/ --dtype float16
    """
    try:
        check_output(output, force)
        lexicons = [Lexicon.open(path) for path in paths]
        _check(paths, lexicons)
        merged = Lexicon.from_entries(
            WatchedStream(map(read_any, paths)),
            dtype=dtype or str(lexicons[0].table.vectors.dtype),  # type: ignore[arg-type]
            normalization=lexicons[0].normalization,
            max_word_length=max(lexicon.max_word_length for lexicon in lexicons),
            merge=True,
        )
        save(merged, output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was written", str(error), exits=1)
    counts = ", ".join(f"{path} {len(lexicon)}" for path, lexicon in zip(paths, lexicons))
    msg.text(f"Words of {counts}; {sum(map(len, lexicons)) - len(merged)} of them more than once")
    tell_skipped(merged, duplicates=False)


def _check(paths: List[Path], lexicons: List[Lexicon]) -> None:
    """Vectors of two widths cannot be merged: all those of one would be lost."""
    dims = {lexicon.dim: path for path, lexicon in zip(paths, lexicons) if lexicon.dim}
    if len(dims) > 1:
        found = ", ".join(f"{path} {dim}" for dim, path in dims.items())
        raise LexiconError(f"The vectors are of different dimensions: {found}. Merge lexicons of one kind of vectors.")
