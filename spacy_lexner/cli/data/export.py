"""`spacy lexner export`: annotated Docs to files for annotation tools."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Iterable, Iterator, Optional, Set

import typer
from spacy.tokens import Doc
from wasabi import msg

from ...formats.docs import read_doc
from ...formats.label_studio import make_config
from ...formats.report import Report
from ...formats.spacy_file import list_spacy_files, read_all
from ...formats.task import Task
from ...formats.write import WRITERS, write_tasks
from ...integrity.folders import whole_folder
from ...visualize.label_colors import label_color
from ..shared import check_apart, check_spans_key, failing, progress
from .convert import OffsetsOption


def export_cli(
    input_path: Annotated[Path, typer.Argument(metavar="IN", help="A .spacy file, or a folder of them")],
    output_path: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; for brat a new folder")],
    format: Annotated[
        str, typer.Option("--format", "-f", help=f"One of {', '.join(WRITERS)}", metavar="NAME")
    ] = "prodigy",
    offsets: OffsetsOption = "auto",
    spans_key: Annotated[
        Optional[str],
        typer.Option(help="Write these spans of the Docs, which may overlap, instead of entities", metavar="KEY"),
    ] = None,
) -> None:
    """Write annotated .spacy files for an annotation tool. `spacy lexner convert` reads what comes back.

    What the format of the tool cannot hold is reported. For Label Studio the labelling configuration of the project is
    written next to it, as .xml.

    \b
    Examples:
      python -m spacy lexner export corpus/train.spacy train.jsonl --format prodigy
      python -m spacy lexner export corpus/train.spacy train.json --format label-studio
      python -m spacy lexner export corpus/train.spacy train.jsonl --format doccano --offsets graphemes
      python -m spacy lexner export corpus brat/train --format brat --spans-key sc
    """
    report = Report()
    with failing("Nothing was written"):
        check_apart(output_path, list_spacy_files(input_path))
        bar = progress(read_all(input_path), desc=str(input_path))
        export(make_tasks(bar, report, spans_key), output_path, format, report, offsets)


def make_tasks(docs: Iterable[Doc], report: Report, spans_key: Optional[str] = None) -> Iterator[Task]:
    """Turn Docs into annotation tasks. Raises ValueError, after the last one, if no Doc has spans under `spans_key`."""
    found: Set[str] = set()
    for i, doc in enumerate(docs, start=1):
        found.update(doc.spans)
        yield Task(read_doc(doc, f"text {i}", report, spans_key=spans_key))
    check_spans_key(spans_key, found)


def export(
    tasks: Iterable[Task], path: Path, format: str, report: Report, offsets: str = "auto", *, replace: bool = False
) -> None:
    """Write tasks in one of the formats of `formats.write.WRITERS` (brat: a folder), and print a summary. `report`
    collects the counts and whatever the format cannot hold; `offsets` is the unit of offsets, or "auto". A file is
    always replaced, a folder only with `replace`."""
    # An empty folder may be a mounted one, which cannot be exchanged.
    whole = format == "brat" and (replace or not path.exists())
    with whole_folder(path, overwrite=True) if whole else nullcontext(path) as place:
        write_tasks(tasks, place, format, report, offsets=offsets)
    labels = ", ".join(f"{label} {count}" for label, count in sorted(report.labels.items()))
    msg.good(f"{path}: {report.n_texts} texts, {report.n_entities} entities", labels or "No entities.")
    if format == "label-studio":
        config = path.with_suffix(".xml")
        config.write_text(make_config((label, label_color(label)) for label in sorted(report.labels)), "utf8")
        msg.info(f"{config}: the labelling configuration of the project")
    for line in report.describe():
        msg.warn(line)
