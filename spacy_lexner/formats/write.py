"""Writing files for annotation tools. To add a format, write its writer and add a line to WRITERS."""

from functools import partial
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, NamedTuple, Union

from ..lexicon.writing import whole_file
from .brat import check_vacant, write_brat
from .doccano import write_doccano
from .label_studio import write_label_studio
from .offsets import CODE_POINTS, UNITS, UTF_16
from .prodigy import write_prodigy
from .record import FormatError
from .report import Report
from .spacy_llm import check_suffix, write_spacy_llm
from .task import Task


class Writer(NamedTuple):
    """How a format is written."""

    write: Callable[..., None]  # (tasks, path, report, unit=of offsets); reports what the format cannot express
    unit: str  # the unit of offsets in the tool itself


def write_lines(
    make_lines: Callable[..., Iterator[str]], tasks: Iterable[Task], path: Path, report: Report, *, unit: str
) -> None:
    """Write the lines of `make_lines(tasks, report, unit=unit)` to a text file, atomically."""
    with whole_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in make_lines(tasks, report, unit=unit))


def write_examples(tasks: Iterable[Task], path: Path, report: Report, *, reasons: bool, unit: str) -> None:
    """Write examples for spacy-llm as YAML, JSON or JSON lines, depending on the file's suffix."""
    write_lines(partial(write_spacy_llm, suffix=path.suffix, reasons=reasons), tasks, path, report, unit=unit)


WRITERS: Dict[str, Writer] = {
    "prodigy": Writer(partial(write_lines, write_prodigy), CODE_POINTS),
    "label-studio": Writer(partial(write_lines, write_label_studio), CODE_POINTS),
    "doccano": Writer(partial(write_lines, write_doccano), UTF_16),
    "brat": Writer(write_brat, CODE_POINTS),
    "spacy-llm": Writer(partial(write_examples, reasons=False), CODE_POINTS),
    "spacy-llm-v3": Writer(partial(write_examples, reasons=True), CODE_POINTS),
}


def write_tasks(
    tasks: Iterable[Task], path: Union[str, Path], format: str, report: Report, *, offsets: str = "auto"
) -> None:
    """Write texts for an annotation tool.

    path (Union[str, Path]): The file, or for brat the folder.
    format (str): One of WRITERS.
    report (Report): Collects the counts, and what the format cannot express.
    offsets (str): The unit of offsets: one of `offsets.UNITS`, or "auto" for that of the tool.
    """
    path = Path(path)
    check_target(path, format, offsets)
    writer = WRITERS[format]
    unit = writer.unit if offsets == "auto" else offsets
    writer.write(_counted(tasks, report), path, report, unit=unit)


def check_format(format: str, offsets: str) -> None:
    """Raise FormatError for an unknown format or unit of offsets."""
    if format not in WRITERS:
        raise FormatError(f"Unknown format to write: {format!r}. Use one of: {', '.join(WRITERS)}")
    if offsets not in ("auto", *UNITS):
        raise FormatError(f"offsets is {offsets!r}; expected one of auto, {', '.join(UNITS)}.")


def check_target(path: Path, format: str, offsets: str) -> None:
    """Raise, before there is anything to write, the errors that `write_tasks` would raise for these arguments."""
    check_format(format, offsets)
    if format == "brat":
        check_vacant(path)
    elif path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the file to write.")
    elif format == "label-studio" and path.suffix.lower() == ".xml":
        raise FormatError(f"{path}: the tasks are JSON, and the labelling configuration is .xml. Give a .json file.")
    elif format in ("spacy-llm", "spacy-llm-v3"):
        check_suffix(path.suffix)


def _counted(tasks: Iterable[Task], report: Report) -> Iterator[Task]:
    """Count texts and entities, and report what no annotation tool can show."""
    for task in tasks:
        record = task.record
        report.n_texts += 1
        report.n_characters += len(record.text)
        report.labels.update(entity.label for entity in record.entities or ())
        if any(record.pos or ()) or any(record.tags or ()):
            report.add_problem("text with parts of speech: written without them", record.place)
        yield task
