"""`spacy lexner lexicon verify`: check that a lexicon is unchanged since it was saved, and consistent."""

from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Iterable, List, Optional

import typer
from wasabi import msg

from ...lexicon.audit import BATCH, audit, compare_with_pygtrie, joined_words
from ...lexicon.lexicon import Lexicon
from ..shared import TextFormatOption, failing, progress, read_texts
from .folder import LexiconArgument

N_SHOWN = 20


def verify_cli(
    path: LexiconArgument,
    texts: Annotated[
        Optional[List[Path]],
        typer.Argument(metavar="TEXTS", help="For --oracle: text, .spacy or annotated files, or folders of them"),
    ] = None,
    oracle: Annotated[
        bool,
        typer.Option("--oracle", help="Compare with the words that pygtrie finds in TEXTS, or in the lexicon's words"),
    ] = False,
    format: TextFormatOption = "auto",
) -> None:
    """Check the SHA-256 of a lexicon's files, and that every word is found with its stored data. With --oracle, also
    compare its matches with those of pygtrie.

    \b
    Examples:
      python -m spacy lexner lexicon verify lexicon
      python -m spacy lexner lexicon verify lexicon --oracle corpus/dev.spacy
    """
    with failing("The lexicon cannot be verified"):
        if texts and not oracle:
            raise ValueError("TEXTS are only read with --oracle: add it, or leave them out.")
        lexicon = Lexicon.open(path, verify=True)
        batches = progress(audit(lexicon), "words", unit=" words", scale=BATCH)
        _fail_on_any(chain.from_iterable(batches), f"{path}: the lexicon contradicts itself")
        msg.good(f"{path}: {len(lexicon)} words, all as they were saved", f"Version {lexicon.version:016x}")
        if oracle:
            _verify_matches(lexicon, read_texts(texts, format) if texts else joined_words(lexicon), path)


def _verify_matches(lexicon: Lexicon, texts: Iterable[str], path: Path) -> None:
    counts: List[int] = []
    differences: List[str] = []
    for comparison in compare_with_pygtrie(lexicon, progress(texts, "texts")):
        counts.append(comparison.n_found)
        differences += comparison.differences
        if len(differences) >= N_SHOWN:
            break
    _fail_on_any(differences, f"{path}: the lexicon and pygtrie find different words")
    msg.good(f"Same matches as pygtrie: {sum(counts)} (texts: {len(counts)})")


def _fail_on_any(faults: Iterable[str], title: str) -> None:
    shown = list(islice(faults, N_SHOWN))
    if shown:
        more = ["and perhaps more"] if len(shown) == N_SHOWN else []
        msg.fail(title, "\n".join(shown + more), exits=1)
