"""`spacy lexner errors`: probable annotation errors."""

from pathlib import Path
from typing import Annotated, Dict, Iterator, List, Mapping, Optional, Sequence

import srsly
import typer
from spacy.cli._util import import_code, parse_config_overrides, setup_gpu
from wasabi import msg

from ...annotation.errors import KINDS, Finding, count_kinds, count_unannotated, count_unjudged, find_errors, propose
from ...formats.record import Entity, Record
from ...formats.report import Report
from ...formats.spacy_file import read_annotated
from ...formats.task import Task
from ...formats.write import WRITERS, check_format
from ...report.gold import GoldText, to_gold
from ..model.training_config import CodeOption, ConfigOption, training_config
from ..shared import GpuOption, check_apart, failing, find_given, load_pipeline, warn_of_failures
from .convert import OffsetsOption
from .export import export

SUFFIXES = {"label-studio": ".json", "brat": ""}


def errors_cli(
    ctx: typer.Context,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Annotated texts: a .spacy file or a folder")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The folder for all that is written")],
    config: ConfigOption = "flat",
    model: Annotated[
        Optional[str],
        typer.Option(
            "--model", "-m", metavar="MODEL", help="Instead of training: a pipeline that never saw these texts"
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option("--folds", "-k", metavar="K", help="Number of parts, each judged by its own model", min=2),
    ] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the division into parts", min=0)] = 0,
    n: Annotated[int, typer.Option("--number", "-n", help="Draft at most this many texts", min=1)] = 500,
    tool: Annotated[str, typer.Option("--to", metavar="NAME", help=f"Drafts for {', '.join(WRITERS)}")] = "prodigy",
    offsets: OffsetsOption = "auto",
    code: CodeOption = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Find probable annotation errors. The texts are divided into K parts, and each part is judged by a model trained
    on the others: annotated spans that it finds improbable, probable spans that are not annotated, and copies of a text
    that are annotated differently.

    OUT/findings.jsonl is the ranked list; OUT/drafts has the texts with the most probable errors, corrected, for an
    annotation tool. After an interruption, run the same command again to continue. Config settings can be overridden.

    \b
    Examples:
      python -m spacy lexner errors corpus/train.spacy -o errors --paths.lexicon my_lexicon
      python -m spacy lexner errors corpus/train.spacy -o errors --config baseline.cfg --folds 10
      python -m spacy lexner errors corpus/new.spacy -o errors --model training/model-best
    """
    from ...annotation.cross_fit import cross_fit, score_all  # torch: only where it is needed

    with failing("The annotation was not checked"):
        check_format(tool, offsets)
        if model is None:  # which writes the texts of each part
            check_apart(output, [corpus])
        drafts = output / f"drafts{SUFFIXES.get(tool, '.jsonl')}"
        if drafts.is_dir() and any(drafts.iterdir()):
            raise ValueError(f"{drafts} holds drafts that may have been corrected. Move it, or delete it.")
        if model is not None and (given := find_given(ctx, ("config", "folds", "seed")) + ctx.args):
            raise ValueError(f"--model is used as it is: leave out {' '.join(given)}, or --model.")
        overrides = parse_config_overrides(ctx.args)
        import_code(code)
        setup_gpu(gpu_id, silent=True)
        docs = list(read_annotated(corpus))
        gold = [to_gold(doc) for doc in docs]
        if not any(text.marks for text in gold):
            raise ValueError(f"{corpus}: no text has an entity.")
        failed: Dict[int, str] = {}
        if model is None:
            filled = training_config(config, overrides, output)
            scored = cross_fit(docs, gold, filled, output, n_folds=folds, seed=seed, use_gpu=gpu_id, failed=failed)
        else:
            scored = score_all(load_pipeline(model), gold, output / "scores.jsonl", failed)
        findings = find_errors(gold, scored)
        srsly.write_jsonl(output / "findings.jsonl", [each.to_json(gold[each.number].text) for each in findings])
        export(make_tasks(gold, findings, n), drafts, tool, Report(), offsets, replace=True)
    print_findings(gold, findings)
    warn_of_labels("entities were not judged: the model does not know their labels", count_unjudged(gold, scored))
    unannotated = count_unannotated(gold, scored)
    warn_of_labels("probable entities are not listed: no text is annotated with their labels", unannotated)
    warn_of_failures(failed)


def make_tasks(gold: Sequence[GoldText], findings: Sequence[Finding], n: int) -> Iterator[Task]:
    """The `n` texts with the most probable errors, corrected, with the findings as notes."""
    by_text: Dict[int, List[Finding]] = {}
    for finding in findings:
        by_text.setdefault(finding.number, []).append(finding)
    for rank, (number, own) in enumerate(list(by_text.items())[:n], 1):
        text = gold[number]
        marks = propose(text, own)
        entities = [Entity(*mark[:3]) for mark in marks]
        record = Record(text.text, None, entities, f"text {number + 1}")
        described = [describe(finding, text.text) for finding in own]
        notes = {"rank": rank, "number": number, "errors": described}
        yield Task(record, [mark.score for mark in marks], predicted=True, notes=notes)


def describe(finding: Finding, text: str) -> str:
    """Describe a finding: its kind, what is annotated, and what is proposed."""
    sides = [
        "nothing" if mark is None else f"{mark.label} {text[mark.start : mark.end]}"
        for mark in (finding.annotated, finding.proposed)
    ]
    return f"{finding.kind}: {sides[0]} → {sides[1]}"


def print_findings(gold: Sequence[GoldText], findings: Sequence[Finding]) -> None:
    """Print the most probable errors, and how many of each kind were found."""
    for finding in findings[:20]:
        typer.echo(f"{finding.probability:.4f}  {describe(finding, gold[finding.number].text)}")
    rows = [[kind, count] for kind, count in count_kinds(findings).items() if kind in KINDS]
    msg.table(rows, header=["probable errors", "number"], divider=True, aligns=("l", "r"))
    texts = len({finding.number for finding in findings})
    msg.info(f"{len(findings)} in {texts} of {len(gold)} texts")


def warn_of_labels(problem: str, counts: Mapping[str, int]) -> None:
    """Warn of entities that were left out; `counts` has their number by label."""
    if counts:
        msg.warn(f"{sum(counts.values())} {problem}", ", ".join(f"{label} {n}" for label, n in counts.items()))
