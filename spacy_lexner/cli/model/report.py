"""`spacy lexner report`: what models get right and wrong, and how sure they are."""

from pathlib import Path
from typing import Annotated, Dict, Iterable, List, Optional

import srsly
import typer
from spacy.cli._util import setup_gpu
from wasabi import msg

from ...report.bootstrap import N_SAMPLES
from ...report.gold import mentions, read_gold
from ...report.measure import Settings
from ...report.page import make_page
from ...report.report import Report, make_report
from ..pipelines import load_named

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name; NAME=MODEL to call it something")
]
TestArgument = Annotated[
    Path, typer.Argument(metavar="TEST", help="Annotated texts: a .spacy file or a folder of them")
]
CompareOption = Annotated[
    Optional[List[str]],
    typer.Option("--compare", "-c", metavar="MODEL", help="Another pipeline to put beside it; may be given again"),
]
TrainOption = Annotated[
    Optional[Path],
    typer.Option(
        "--train", "-t", metavar="TRAIN", help="What it was trained on (.spacy): to know which entities were seen"
    ),
]
LexiconOffOption = Annotated[
    bool,
    typer.Option("--lexicon-off", help="Also measure each model with its lexicon emptied, everything else unchanged"),
]
MapOption = Annotated[
    Optional[List[str]],
    typer.Option("--map", "-m", metavar="OLD=NEW", help="Rename a label of the models, such as PERSON=PER"),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="PATH", help="The .html file; a .json file is written beside it")
]
WorstOption = Annotated[int, typer.Option("--worst", help="How many of the worst texts to show", min=0)]
SamplesOption = Annotated[int, typer.Option("--samples", help="Test sets to draw for the spread of scores", min=1)]
SeedOption = Annotated[int, typer.Option(help="Seed of the drawing")]
LimitOption = Annotated[int, typer.Option("--limit", "-n", help="Most texts to read; 0 for all", min=0)]
BatchOption = Annotated[Optional[int], typer.Option(help="Texts to process at once; by default as each pipeline says")]
GpuOption = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU")]


def report_cli(
    model: ModelArgument,
    test: TestArgument,
    compare: CompareOption = None,
    train: TrainOption = None,
    lexicon_off: LexiconOffOption = False,
    label_map: MapOption = None,
    output: OutputOption = Path("report.html"),
    n_worst: WorstOption = 50,
    n_samples: SamplesOption = N_SAMPLES,
    seed: SeedOption = 0,
    limit: LimitOption = 0,
    batch_size: BatchOption = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Measure one model or several, of any kind that sets doc.ents, and write a page and the same as JSON: scores by
    type with their spread, seen and unseen entities, kinds of errors, confusions, calibration, the worst texts.

    \b
    Examples:
      python -m spacy lexner report training/model-best corpus/test.spacy --train corpus/train.spacy --lexicon-off
      python -m spacy lexner report ours=training/model-best test.spacy -c peer=zh_core_web_sm --map PERSON=PER
    """
    try:
        setup_gpu(gpu_id, silent=True)
        if output.suffix not in (".html", ".htm"):
            raise ValueError(f"{output}: the report is a page: give an .html file.")
        gold = [text for i, text in enumerate(read_gold(test)) if not limit or i < limit]
        seen = None if train is None else mentions(read_gold(train))
        settings = Settings(seen, read_map(label_map or []), batch_size, n_samples, seed, n_worst)
        report = make_report(load_named([model, *(compare or [])]), gold, settings, lexicon_off=lexicon_off)
        output.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(output.with_suffix(".json"), report.to_json())
        output.write_text(make_page(report, title=f"{test.stem}: {' · '.join(report.models)}"), "utf8")
    except (ValueError, OSError, ImportError) as error:
        msg.fail("There is no report", str(error), exits=1)
    print_scores(report)
    msg.good(f"{output}", f"The same as JSON: {output.with_suffix('.json')}")


def read_map(pairs: Iterable[str]) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): Old and new labels, from OLD=NEW. Raises ValueError for anything else."""
    labels = {}
    for pair in pairs:
        old, separator, new = pair.partition("=")
        if not (old and separator and new):
            raise ValueError(f"--map {pair}: expected an old and a new label, such as PERSON=PER.")
        labels[old] = new
    return labels


def print_scores(report: Report) -> None:
    """Print the scores of all models, and what went wrong with single texts.

    report (Report): The report.
    """
    rows = []
    for name, measured in report.models.items():
        groups = [measured.figures[group] for group in ("all", "seen", "unseen")]
        cells = [*(groups[0][key] for key in "prf"), *(group["f"] if group else None for group in groups[1:])]
        rows.append([name, *("–" if value is None else f"{100 * value:.1f}" for value in cells)])
    msg.table(rows, header=["model", "P", "R", "F", "F seen", "F unseen"], divider=True, aligns=("l", *"rrrrr"))
    for name, measured in report.models.items():
        if measured.figures["failed"]:
            reasons = sorted(set(measured.figures["failed"].values()))[:3]
            msg.warn(f"{name}: {len(measured.figures['failed'])} texts could not be processed", "\n".join(reasons))
