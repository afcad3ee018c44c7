"""`spacy lexner report`: what models get right and wrong, and how sure they are."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Dict, Iterable, List, Optional

import srsly
import typer
from spacy.cli._util import setup_gpu
from wasabi import msg

from ...report.bootstrap import N_SAMPLES
from ...report.gold import mentions, read_gold
from ...report.measure import Settings
from ...report.page import LANGUAGES, check_language, make_page
from ...report.report import Report, make_report
from ..shared import GpuOption, failing, load_named, load_pipeline, warn_of_failures

LEXICON = {
    "dependence": "Lexicon emptied: {:+.1f} F depend on it: the model's reliance on words, not what they are worth.",
    "worth": "Words are worth {:+.1f} F, compared with the model trained without any.",
}


def report_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name; NAME=MODEL names it")],
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Annotated texts: a .spacy file or a folder of them")],
    compare: Annotated[
        Optional[List[str]],
        typer.Option("--compare", "-c", metavar="MODEL", help="Another pipeline to compare it with; repeatable"),
    ] = None,
    train: Annotated[
        Optional[Path],
        typer.Option(
            "--train", "-t", metavar="TRAIN", help="Its training texts (.spacy), to tell which entities it saw"
        ),
    ] = None,
    lexicon_off: Annotated[
        bool,
        typer.Option(
            "--lexicon-off", help="Also measure each model with its lexicon emptied: how far it relies on words"
        ),
    ] = False,
    without_words: Annotated[
        Optional[str],
        typer.Option(
            metavar="MODEL", help="A pipeline like MODEL, trained with an empty lexicon: what words are worth"
        ),
    ] = None,
    label_map: Annotated[
        Optional[List[str]],
        typer.Option("--map", "-m", metavar="OLD=NEW", help="Rename a label of the models, such as PERSON=PER"),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .html file; a .json file is written next to it")
    ] = Path("report.html"),
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the page: en or zh")] = LANGUAGES[0],
    n_worst: Annotated[int, typer.Option("--worst", help="How many of the worst texts to show", min=0)] = 50,
    n_samples: Annotated[
        int, typer.Option("--samples", help="Bootstrap samples for confidence intervals", min=1)
    ] = N_SAMPLES,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap", min=0)] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Read at most this many texts; 0 for all", min=0)] = 0,
    batch_size: Annotated[
        Optional[int], typer.Option(help="Texts per batch; default: that of each pipeline", min=1)
    ] = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Evaluate one or more models of any kind that sets doc.ents, and write the results as a page and as JSON.

    The page shows scores by type with their spread, seen and unseen entities, kinds of errors, confusions, calibration,
    and the worst texts.

    \b
    Examples:
      python -m spacy lexner report training/model-best corpus/test.spacy --train corpus/train.spacy --lexicon-off
      python -m spacy lexner report ours=training/model-best test.spacy -c peer=zh_core_web_sm --map PERSON=PER
    """
    with failing("No report was written"):
        setup_gpu(gpu_id, silent=True)
        if output.suffix not in (".html", ".htm"):
            raise ValueError(f"{output}: the report is a page; give an .html file.")
        if output.is_dir():
            raise IsADirectoryError(f"{output} is a folder. Give the .html file to write.")
        output.parent.mkdir(parents=True, exist_ok=True)  # before the models run
        check_language(language)
        gold = [text for i, text in enumerate(read_gold(test)) if not limit or i < limit]
        seen = None if train is None else mentions(read_gold(train))
        settings = Settings(seen, read_map(label_map or []), batch_size, n_samples, seed, n_worst)
        models = load_named([model, *(compare or [])])
        plain = None if without_words is None else load_pipeline(without_words)
        report = make_report(models, gold, settings, lexicon_off=lexicon_off, without_words=plain)
        srsly.write_json(output.with_suffix(".json"), report.to_json())
        title = f"{test.stem}: {' · '.join(report.models)}"
        output.write_text(make_page(report, title=title, language=language), "utf8")
    print_scores(report)
    warn_of_map(report)
    msg.good(f"{output}", f"The same as JSON: {output.with_suffix('.json')}")


def read_map(pairs: Iterable[str]) -> Dict[str, str]:
    """Parse OLD=NEW into old and new labels. Raises ValueError for anything else, and for two new labels of one."""
    labels: Dict[str, str] = {}
    for pair in pairs:
        old, separator, new = pair.partition("=")
        if not (old and separator and new):
            raise ValueError(f"--map {pair}: expected an old and a new label, such as PERSON=PER.")
        if labels.get(old, new) != new:
            raise ValueError(f"--map {pair}: {old} is already renamed to {labels[old]}. Give one new label for each.")
        labels[old] = new
    return labels


def print_scores(report: Report) -> None:
    """Print the scores of all models in a report, and warn of texts that failed."""
    rows = []
    for name, measured in report.models.items():
        groups = [measured.figures[group] for group in ("all", "seen", "unseen")]
        cells = [*(groups[0][key] for key in "prf"), *(group["f"] if group else None for group in groups[1:])]
        rows.append([name, *("–" if value is None else f"{100 * value:.1f}" for value in cells)])
    msg.table(rows, header=["model", "P", "R", "F", "F seen", "F unseen"], divider=True, aligns=("l", *"rrrrr"))
    for kind, effect in report.weigh_lexicon().items():
        if effect["f"] is not None:
            msg.text(LEXICON[kind].format(100 * effect["f"]))
    for name, measured in report.models.items():
        warn_of_failures(measured.figures["failed"], f"{name}: ")


def warn_of_map(report: Report) -> None:
    """Warn of renamed labels that no model predicts, and of new ones that no text is annotated with."""
    predicted = set(chain.from_iterable(measured.labels for measured in report.models.values()))
    annotated = set(report.corpus["labels"])
    for old, new in (report.settings.label_map or {}).items():
        for label, known, problem in (
            (old, predicted, "no model predicts"),
            (new, annotated, "no text is annotated with"),
        ):
            if label not in known:
                names = ", ".join(sorted(known)) or "none"
                msg.warn(f"--map {old}={new}: {problem} {label}", f"The labels there are: {names}")
