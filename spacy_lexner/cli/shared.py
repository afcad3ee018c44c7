"""What the commands share: options, failures, progress bars, pipelines and texts."""

from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Collection, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar

import typer
from spacy.language import Language
from spacy.util import is_package, load_model
from tqdm import tqdm
from wasabi import msg

from ..formats.read import READERS, list_inputs, read_records
from ..formats.record import FormatError, ReadOptions
from ..formats.report import Report
from ..formats.source import read_lines
from ..formats.spacy_file import read_docs
from ..integrity.folders import check_kept
from ..lexicon.limits import quote

ItemT = TypeVar("ItemT")
GENERIC = ("model-best", "model-last")  # folder names that do not identify a pipeline
TEXT_SUFFIXES = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz")
N_REASONS = 3

ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace what is already there")]
GpuOption = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU")]
SeedOption = Annotated[int, typer.Option(help="Random seed", min=0)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object")]
RawTextsArgument = Annotated[
    List[Path],
    typer.Argument(metavar="TEXT...", help="Text files (UTF-8, also .gz), or folders with *.txt and *.txt.gz"),
]
TargetArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]
SkipSharedOption = Annotated[
    bool, typer.Option("--skip-shared", help="Leave out texts that are also in --dev, instead of failing")
]
TextFormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        help=f"Format of the texts: auto, text (one per line), spacy, {', '.join(READERS)}",
        metavar="NAME",
    ),
]


@contextmanager
def failing(title: str, *, code: int = 1) -> Iterator[None]:
    """On ValueError, OSError or ImportError, print `title` (what was not done) and the error, and exit with `code`."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        msg.fail(title, str(error))
        raise typer.Exit(code) from None


def progress(
    items: Iterable[ItemT], desc: str = "", *, unit: str = " texts", total: Optional[int] = None, scale: int = 0
) -> Iterable[ItemT]:
    """Show a transient progress bar in a terminal. `scale` is the number of units per item."""
    return tqdm(items, desc=desc, unit=unit, total=total, unit_scale=scale or False, disable=None, leave=False)


def find_given(ctx: typer.Context, names: Iterable[str]) -> List[str]:
    """RETURNS (List[str]): Those options, by the names of their parameters, that were given on the command line."""
    sources = {name: getattr(ctx.get_parameter_source(name), "name", "") for name in names}
    return [f"--{name}" for name, source in sources.items() if source == "COMMANDLINE"]


@contextmanager
def status(what: str) -> Iterator[None]:
    """Show in a terminal what is being done, until it is done."""
    with tqdm(desc=what, bar_format="{desc} …", disable=None, leave=False):
        yield


def check_new(path: Optional[Path], force: bool, inputs: Iterable[Path] = ()) -> None:
    """Raise ValueError if a path exists and `force` is not set, or if one of the inputs would go with what is replaced.
    None means that nothing is written."""
    if path is not None and path.exists() and not force:
        raise ValueError(f"{path} already exists. Choose another name, or replace it (--force).")
    if path is not None:
        check_kept(path, inputs)


def check_apart(output: Path, inputs: Iterable[Path]) -> None:
    """Raise ValueError if the output would replace a file that is read, or is in a folder whose files are all read: a
    later run would read what this one writes."""
    for path in inputs:
        if path.is_file() and path.resolve() == output.resolve():
            raise ValueError(f"{output} is read, so it cannot be written. Choose another name.")
        if path.is_dir() and path.resolve() in (output.resolve(), *output.resolve().parents):
            raise ValueError(f"{output} is in {path}, all files of which are read. Choose a folder outside of it.")


def check_spans_key(key: Optional[str], found: Collection[str]) -> None:
    """Raise ValueError if a key of spans is given, but none of the texts has it; `found` are those that they have."""
    if key is not None and key not in found:
        names = ", ".join(map(quote, sorted(found))) or "none"
        raise ValueError(f"No text has spans {key!r} (--spans-key). The keys of the spans in the texts: {names}.")


def warn_of_failures(failed: Mapping[int, str], title: str = "") -> None:
    """Warn of texts that a pipeline could not process; `failed` maps the number of each to the reason."""
    if failed:
        reasons = sorted(set(failed.values()))[:N_REASONS]
        msg.warn(f"{title}{len(failed)} texts could not be processed", "\n".join(reasons))


def load_pipeline(model: str) -> Language:
    """Load a pipeline from a folder or package, or "blank:zh". Raises OSError if there is none, and ValueError if it is
    damaged or needs something that is not installed."""
    try:
        with status(f"loading {model}"):
            return load_model(model)
    except OSError:
        raise
    except Exception as error:  # every component fails on damaged files in its own way
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"The pipeline {model} cannot be loaded ({reason}).") from error


def load_named(models: Iterable[str]) -> Iterator[Tuple[str, Language]]:
    """Load pipelines (folders or names, or NAME=MODEL) lazily, and yield each with its name. Raises OSError if one does
    not exist and ValueError if two have the same name, before any is loaded."""
    places: Dict[str, str] = {}
    for model in models:
        name, _, place = ("", "", model) if Path(model).exists() else model.rpartition("=")
        path = Path(place)
        name = name or (path.parent.name if path.name in GENERIC else path.name)
        if name in places:
            raise ValueError(f"Two models have the name {name!r}. Give each its own (NAME=MODEL).")
        if not (path.exists() or is_package(place) or place.startswith("blank:")):
            raise OSError(f"There is no pipeline {place}: neither a folder nor an installed package has that name.")
        places[name] = place
    return ((name, load_pipeline(place)) for name, place in places.items())


def read_texts(paths: Iterable[Path], format: str = "auto") -> Iterator[str]:
    """Read all non-blank texts from files, archives, and folders of them.

    format (str): "text" for one per line; "spacy"; one of `formats.read.READERS`; or "auto": `.spacy` and `.txt` files
        (also compressed) are read as such, the format of others is detected.
    YIELDS (str): The texts. Raises FormatError for an invalid file, with its line, and if there are no texts.
    """
    paths, found = list(paths), False
    for path in paths:
        for source in list_inputs(path, format):
            texts: Iterable[str]
            if format == "spacy" or (format == "auto" and source.path.suffix == ".spacy"):
                texts = (doc.text for doc in read_docs(source.path))
            elif format == "text" or (format == "auto" and source.name.lower().endswith(TEXT_SUFFIXES)):
                texts = (line for _, line in read_lines(source, ReadOptions(), Report()))
            else:
                texts = (record.text for record in read_records(source, format, ReadOptions(repair=True), Report()))
            for text in texts:
                if text.strip():
                    found = True
                    yield text
    if not found:
        raise FormatError(
            f"No text in {', '.join(map(str, paths))}: give files with at least one text that is not blank."
        )
