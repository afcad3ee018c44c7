"""brat's standoff format: each text in its own file (`1.txt`), its entities beside it (`1.ann`), in code points.

`T1\tGPE 2 4\t南京`
"""

import re
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional

from ..lexicon.limits import quote, shorten, to_int
from .mentions import Mentions
from .offsets import CODE_POINTS, LAST_OF_BMP, Offsets
from .record import LOST_CHARACTERS, Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, is_archive, list_sources, read_text
from .task import Task, find_regions

EXAMPLE = "T1\\tGPE 2 4\\t南京"
OTHERS = {"E": "event", "R": "relation", "A": "attribute", "M": "attribute", "N": "normalization", "#": "note"}
OTHERS["*"] = "equivalence"
CONFIG = "annotation.conf"
COUNTED_TWICE = "text with characters that brat's page counts twice: later entities appear shifted"
OTHER_FILE = "file of another format in a brat collection: left out; convert it by itself"
RENAMED = "label with characters that brat does not allow: replaced"
MEANS = "# {} stands for {}"  # our comment in CONFIG: the label of a type
MEANT = re.compile(r"# ([A-Za-z0-9_-]+) stands for (.+?)\r?$", re.MULTILINE)
PIECE = re.compile(r"[^\n\r\t]+")  # of an entity: brat allows no line ends or tabs in one
NO_TYPE = re.compile(r"[^A-Za-z0-9_-]")  # not allowed in type names


class Document(NamedTuple):
    """A text, its annotation if any, and the labels of the types in its folder."""

    text: Source
    annotation: Optional[Source]
    labels: Dict[str, str]


def read_brat(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a collection (a folder, a zip archive, or a single `.ann` or `.txt` file), sorted by name. A text without an
    `.ann` file is unannotated; an `.ann` file without a text is left out. So are files of other formats, relations,
    events, attributes, notes and discontinuous entities."""
    found = False
    for document in _find_documents(source, options, report):
        found = True
        text = read_text(document.text, options, report)
        place, entities = document.text.name, None
        if "\ufffd" in text:
            report.add_problem(LOST_CHARACTERS, place)
        if document.annotation is None:
            report.add_problem("text without an .ann file: read without annotation", place)
        else:
            mentions = Mentions(text, document.annotation.name, options, report)
            lines = read_text(document.annotation, options, report).split("\n")
            entities = mentions.collect(_read_lines(lines, mentions, document.labels))
        yield Record(text, None, entities, place)
    if not found:
        raise FormatError(f"{source.name}: no .txt files; brat needs them, with .ann files next to them.")


def _find_documents(source: Source, options: ReadOptions, report: Report) -> Iterator[Document]:
    single = source.member if source.member is not None else source.path.name
    alone = source.path.is_file() and single.endswith((".ann", ".txt"))
    around = source.path if source.path.is_dir() or is_archive(source.path) else source.path.parent
    files = {other.name: other for other in list_sources(around)}
    for name, file in files.items():
        stem, _, suffix = name.rpartition(".")
        if suffix == "txt" and (not alone or stem == source.name.rpartition(".")[0]):
            folder = name.rpartition("/")[0]
            config = files.get(f"{folder}/{CONFIG}" if folder else CONFIG)
            labels = {} if config is None else dict(MEANT.findall(read_text(config, options, report)))
            yield Document(file, files.get(f"{stem}.ann"), labels)
        elif suffix == "ann" and f"{stem}.txt" not in files and (not alone or name == source.name):
            report.add_problem("annotation without its .txt file: left out", name)
        elif suffix not in ("ann", "conf") and not alone:
            report.add_problem(OTHER_FILE, name)


def _read_lines(lines: List[str], mentions: Mentions, labels: Dict[str, str]) -> Iterator[Optional[Entity]]:
    place, report = mentions.place, mentions.report
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        mentions.place = f"{place}:{number}"
        if line[0] in OTHERS:
            report.add_problem(f"{OTHERS[line[0]]}: left out", mentions.place)
            continue
        _, _, rest = line.partition("\t")
        head, separator, mention = rest.partition("\t")
        label, _, spans = head.partition(" ")
        if line[0] != "T" or not re.fullmatch(r"[0-9]+ [0-9]+(;[0-9]+ [0-9]+)*", spans):
            raise FormatError(f"{mentions.place}: {quote(line)} is not a line of brat; expected one such as {EXAMPLE}")
        try:
            bounds = [to_int(bound) for bound in re.split("[ ;]", spans)]
        except ValueError as error:
            raise FormatError(f"{mentions.place}: {error}") from None
        gaps = zip(bounds[1:-1:2], bounds[2::2])
        if any(mentions.find_text(start, end).strip() for start, end in gaps):
            report.add_problem("discontinuous entity: left out", f"{mentions.place}: {quote(label)} {quote(mention)}")
            continue
        yield mentions.check(bounds[0], bounds[-1], labels.get(label, label), mention if separator else None)
    mentions.place = place


def write_brat(tasks: Iterable[Task], folder: Path, report: Report, *, unit: str = CODE_POINTS) -> None:
    """Write a `.txt` and an `.ann` file for each text, and the types to `annotation.conf`. Raises FileExistsError
    unless `folder` is new or empty."""
    check_vacant(folder)
    folder.mkdir(parents=True, exist_ok=True)
    types: Dict[str, str] = {}
    for number, task in enumerate(tasks, start=1):
        text, place = task.record.text, task.record.place
        if task.record.entities is None:
            report.add_problem("text without annotation: written as if it had no entities", place)
        if text and max(text) > LAST_OF_BMP and unit == CODE_POINTS:
            report.add_problem(COUNTED_TWICE, place)
        if task.notes:
            report.add_problem("notes on a text: left out", place)
        lines = _make_lines(task, Offsets(text, unit), types, report)
        for suffix, content in (("txt", text), ("ann", "".join(f"{line}\n" for line in lines))):
            (folder / f"{number:06d}.{suffix}").write_text(content, "utf8", newline="")
    meanings = (MEANS.format(name, label) for label, name in sorted(types.items()) if name != label)
    sections = ["[entities]", *sorted(types.values()), *meanings, "[relations]", "[events]", "[attributes]"]
    (folder / CONFIG).write_text("\n".join([*sections, ""]), "utf8", newline="")


def check_vacant(folder: Path) -> None:
    """Raise FileExistsError unless a folder is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is not empty. Give a new folder, so that texts do not mix.")


def _make_lines(task: Task, offsets: Offsets, types: Dict[str, str], report: Report) -> Iterator[str]:
    for i, (start, _, label, mention, score) in enumerate(find_regions(task, offsets, report), start=1):
        pieces = list(PIECE.finditer(mention))
        if not pieces:
            report.add_problem("entity of line ends or tabs: left out", f"{task.record.place}: {shorten(label)}")
            continue
        if label not in types:
            types[label] = _name_type(label, types)
            if types[label] != label:
                report.add_problem(RENAMED, f"{shorten(label)} as {shorten(types[label])}")
        begin = offsets.decode(start) or 0
        bounds = (f"{offsets.encode(begin + piece.start())} {offsets.encode(begin + piece.end())}" for piece in pieces)
        yield f"T{i}\t{types[label]} {';'.join(bounds)}\t{' '.join(piece[0] for piece in pieces)}"
        if score is not None:
            yield f"#{i}\tAnnotatorNotes T{i}\tscore {score:.4f}"


def _name_type(label: str, types: Dict[str, str]) -> str:
    """Make a name that brat allows and no other label has."""
    name = NO_TYPE.sub("_", label) or "_"
    names = (name if i == 1 else f"{name}-{i}" for i in range(1, len(types) + 2))
    return next(candidate for candidate in names if candidate not in types.values())
