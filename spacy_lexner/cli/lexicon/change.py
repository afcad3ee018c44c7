"""`spacy lexner lexicon add` and `remove`: change the words of a lexicon."""

from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Iterable, Iterator, List, Optional

import typer
from wasabi import msg

from ...lexicon.compare import compare
from ...lexicon.composed_vectors import CompositionReport, compose_vectors
from ...lexicon.entry import LexiconEntry
from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.any_file import READERS, read_any
from ...lexicon.rule_file import collect_rules, read_rules
from ...lexicon.rules import HINT_ONLY
from ..shared import ForceOption, failing, status
from .folder import LexiconArgument, reading, replacing, save
from .sources import (
    MAX_DROPPED,
    MaxDroppedOption,
    StrictOption,
    WatchedStream,
    check_dropped,
    open_source,
    plan_sources,
    report_skipped,
)

WordsArgument = Annotated[Optional[List[str]], typer.Argument(metavar="WORD...", help="Words")]
FileOption = Annotated[Optional[Path], typer.Option("--file", "-i", help="A file with more words", metavar="PATH")]
FormatOption = Annotated[
    str, typer.Option("--format", "-f", help=f"Format of the file: auto, {', '.join(READERS)}", metavar="NAME")
]
OutOption = Annotated[
    Optional[Path],
    typer.Option("--output", "-o", help="Write to this folder instead of changing the lexicon", metavar="OUT"),
]


def add_cli(
    path: LexiconArgument,
    words: WordsArgument = None,
    file: FileOption = None,
    format: FormatOption = "auto",
    weight: Annotated[Optional[float], typer.Option(help="Weight of the words given here")] = None,
    label: Annotated[
        str,
        typer.Option(help="Label of the words given here, and of those in the file that have none", metavar="LABEL"),
    ] = "",
    entity_id: Annotated[str, typer.Option(help="Entity id of the words given here", metavar="ID")] = "",
    rules: Annotated[
        Optional[Path],
        typer.Option(help="A dictionary file: word, mode (hint, force, forbid, prefer), label, weight", metavar="PATH"),
    ] = None,
    compose: Annotated[
        bool,
        typer.Option("--compose", help="Compose missing vectors from known words inside the word, or its characters"),
    ] = False,
    strict: StrictOption = False,
    max_dropped: MaxDroppedOption = MAX_DROPPED,
    output: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Add words to a lexicon, or change what it knows about them. Fields that are not given stay as they were; rules
    replace all rules of a word. The change is atomic. Invalid words of the file are left out and reported, as in
    `build`; the file may also be the folder of a lexicon.

    \b
    Examples:
      python -m spacy lexner lexicon add lexicon 紫峰大厦 --label LOC
      python -m spacy lexner lexicon add lexicon --file brands.txt --label brand --compose
      python -m spacy lexner lexicon add lexicon --rules dictionary.tsv
    """
    with failing("Nothing was written"), _changing(path, output, force) as old:
        options = {"--weight": weight is not None, "--entity-id": entity_id, "--label": label and file is None}
        if not words and (unused := ", ".join(name for name, given in options.items() if given)):
            raise LexiconError(f"{unused}: for the words given here, but there are none. Give words, or leave it out.")
        own_weight = 1.0 if weight is None else weight
        entries = [LexiconEntry(word, None, own_weight, label, entity_id) for word in words or []]
        if file is not None:
            added = _read_file(file, format, label, old, strict, max_dropped)
            entries += added.entries()
        if rules is not None:
            given = collect_rules(read_rules(rules), old.normalization)
            entries += (LexiconEntry(word, rules=own or HINT_ONLY) for word, own in given.items())
        if not entries:
            raise LexiconError("Give words to add, a file of words (--file), or a file of rules (--rules).")
        report = CompositionReport()
        with status(f"changing {path}"):
            base = _reset_weights(old, words or []) if weight == 1.0 else old
            new = base.with_words(_compose(entries, old, report) if compose else entries)
        save(new, output or path, force or _in_place(path, output))
    if file is not None:
        report_skipped(added.report, duplicates=True)
    with status("comparing"):
        diff = compare(old, new)
    msg.text(f"{len(diff.added)} words added, {len(diff.changed_rows)} changed")
    if compose:
        msg.text(f"Vectors: {report}")
    elif old.dim and (n_bare := sum(diff.new.entry(row).vector is None for row in diff.added.tolist())):
        msg.warn(f"{n_bare} of the new words have no vector, so models see zeros. Use --compose to make vectors.")


def remove_cli(
    path: LexiconArgument,
    words: WordsArgument = None,
    file: FileOption = None,
    format: FormatOption = "auto",
    output: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Remove words from a lexicon. Unknown words are reported; if all are, the exit code is 1 and nothing is written.

    \b
    Examples:
      python -m spacy lexner lexicon remove lexicon 市长
      python -m spacy lexner lexicon remove lexicon --file stop-words.txt --output smaller
    """
    with failing("Nothing was written"), _changing(path, output, force) as old:
        given = dict.fromkeys(words or [])
        if file is not None:
            given.update(dict.fromkeys(entry.word for entry in WatchedStream([read_any(file, format)])))
        if not given:
            raise LexiconError("Give words to remove, or a file of words (--file).")
        unknown = [word for word in given if word not in old]
        if len(unknown) == len(given):
            raise LexiconError(f"None of the {len(given)} words is in the lexicon: {', '.join(unknown[:20])}")
        with status(f"changing {path}"):
            new = old.without_words(given)
        save(new, output or path, force or _in_place(path, output))
    msg.text(f"{len(old) - len(new)} words removed")
    if unknown:
        msg.warn(f"{len(unknown)} words were not in the lexicon", ", ".join(unknown[:20]))


def _in_place(path: Path, output: Optional[Path]) -> bool:
    return output is None or output.resolve() == path.resolve()


@contextmanager
def _changing(path: Path, output: Optional[Path], force: bool) -> Iterator[Lexicon]:
    """Open the lexicon to change, and lock the folder that will be written."""
    if output is None or _in_place(path, output):
        with Lexicon.edit(path) as lexicon, reading(path):
            yield lexicon
    else:
        with replacing(output, force), reading(path):
            yield Lexicon.open(path)


def _read_file(file: Path, format: str, label: str, old: Lexicon, strict: bool, max_dropped: float) -> Lexicon:
    """Build the valid words of a file into a lexicon with the old one's settings."""
    settings = {"encoding": "utf8", "errors": "strict"}
    (source,) = plan_sources([str(file)], format, settings, {})
    stream = WatchedStream([open_source(source._replace(label=label), settings, {})])
    words = Lexicon.from_entries(
        stream,
        dtype=str(old.table.vectors.dtype),  # type: ignore[arg-type]
        normalization=old.normalization,
        max_word_length=old.max_word_length,
        strict=strict,
        merge=True,
    )
    check_dropped(words.report, stream, max_dropped)
    return words


def _reset_weights(lexicon: Lexicon, words: Iterable[str]) -> Lexicon:
    """Set the weights of known words to 1, which `with_words` takes for a field that was left out."""
    known = [entry for entry in map(lexicon.get, words) if entry is not None and entry.weight != 1.0]
    return lexicon.without_words(entry.word for entry in known).with_words(e._replace(weight=1.0) for e in known)


def _compose(entries: Iterable[LexiconEntry], known: Lexicon, report: CompositionReport) -> Iterable[LexiconEntry]:
    if not known.dim:
        raise LexiconError("The lexicon has no vectors to compose others from. Leave out --compose.")
    return compose_vectors(entries, known, report=report)
