"""A study: systems × data sets × seeds, each trained by `spacy train`, selected on dev and evaluated on test once.

Each run is a line of a results file and is skipped if that line exists, so a study can be stopped and resumed.
"""

from __future__ import annotations

import shutil
import traceback
from pathlib import Path
from typing import Annotated, List, Mapping, Optional, Sequence

import srsly
import typer
from paths import CONFIGS, PROJECT, SPLITS
from pipelines import use_gpu
from study_file import System, choose, read_study
from study_inputs import changes, describe, refuse_changes
from study_results import Line, Run, add_line, is_missing, read_results
from study_runs import measure, train
from study_table import by_type, compare, summarise
from tqdm import tqdm
from wasabi import msg

RECORD = "run.json"  # in a trained pipeline's folder: the description of its run, and the seconds it took
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
StudyArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file in studies/.")]
ResultsArgument = Annotated[Path, typer.Argument(help="Results file, a JSON line per run.")]
WrittenArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A results file.")]


@app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run_study(
    context: typer.Context,
    study: StudyArgument,
    results: ResultsArgument,
    dataset: Annotated[List[str], typer.Option(help="Data sets; repeat the option for several.")],
    system: Annotated[Optional[List[str]], typer.Option(help="Systems; all by default.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to SEEDS - 1.")] = 3,
    dev_only: Annotated[
        bool, typer.Option("--dev-only", help="Leave the test split alone, for choosing settings.")
    ] = False,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the trained pipelines.")] = False,
) -> None:
    """Do the runs missing from the results file. More arguments are passed to `spacy train`."""
    defined, overrides = read_study(study), list(context.args)
    systems = choose(defined.systems, system)
    check_present([each.on(name) for each in systems.values() for name in dataset], dataset)
    runs = [Run(name, each, seed) for seed in range(seeds) for name in dataset for each in systems]
    lines = read_results(results)
    now = {run: describe(run, defined.systems, overrides, test=not dev_only) for run in runs}
    refuse_changes(results, lines, now)
    missing = [run for run in runs if is_missing(lines.get(run), dev_only)]
    if missing:
        use_gpu(gpu_id)
    failed = 0
    for run in (bar := tqdm(missing, unit="run")):
        bar.set_description(run.name)
        if not is_missing(read_results(results).get(run), dev_only):  # another process has done it
            continue
        out = PROJECT / "training" / study.stem / run.name
        try:
            add_line(results, do(run, defined.systems, overrides, out, gpu_id, test=not dev_only))
        except (RuntimeError, OSError, ValueError) as error:
            msg.fail(f"{run.name}: {error}")
            failed += 1
            continue
        if not keep:
            shutil.rmtree(out)
    if failed:
        msg.fail(f"{failed} runs failed; repeat them with the same command", exits=1)


def check_present(systems: Sequence[System], datasets: Sequence[str]) -> None:
    """Exit with a message if a corpus, config or lexicon is missing."""
    paths = [PROJECT / "corpus" / name / f"{split}.spacy" for name in datasets for split in SPLITS]
    paths += [CONFIGS / f"{system.config}.cfg" for system in systems if system.config]
    paths += [PROJECT / system.lexicon for system in systems if system.lexicon is not None]
    for path in paths:
        if not path.exists():
            how = "The workflow 'data' makes corpora, and scripts/build_lexicon.py lexicons."
            msg.fail(f"{path} is missing", how, exits=1)


def do(
    run: Run, systems: Mapping[str, System], overrides: Sequence[str], out: Path, gpu_id: int, *, test: bool
) -> Line:
    """Train a run's pipeline, unless it is there and nothing that it depends on has changed, and evaluate it.

    run (Run): The run.
    systems (Mapping[str, System]): The systems of the study.
    overrides (Sequence[str]): More arguments for `spacy train`.
    out (Path): The folder of the pipeline. If it cannot be evaluated, it is kept for the next start.
    gpu_id (int): The GPU, or -1 for the CPU.
    test (bool): Whether to use the test split at all.
    RETURNS (Line): The run's line. Raises RuntimeError, which names the log, if training or evaluation fails.
    """
    system = systems[run.system].on(run.dataset)
    check_members(run, systems, overrides, out)
    trained, evaluated = (describe(run, systems, overrides, test=which) for which in (False, test))
    record = read_record(out)
    if not record or any(changes(record, trained)):
        shutil.rmtree(out, ignore_errors=True)
        record = {**trained, "seconds": round(train(run, system, out, list(overrides), gpu_id), 1)}
        srsly.write_json(out / RECORD, record)
    try:
        measured = measure(run, system, out, gpu_id, test=test)
    except (Exception, SystemExit) as error:
        log = out.with_suffix(".log")
        with log.open("a", encoding="utf8") as file:
            traceback.print_exc(file=file)
        raise RuntimeError(f"trained, but not evaluated: {error!r}, see {log}. The next start uses {out}.") from error
    return {**run._asdict(), **evaluated, "seconds": record["seconds"], **measured}


def check_members(run: Run, systems: Mapping[str, System], overrides: Sequence[str], out: Path) -> None:
    """Raises RuntimeError if a pipeline to be combined was trained with other settings or data. Those trained by older
    versions do not say."""
    for member in (run._replace(system=name) for name in systems[run.system].members):
        folder = out.with_name(member.name)
        if found := list(changes(read_record(folder), describe(member, systems, overrides, test=False))):
            raise RuntimeError(f"{folder} has other settings or data, train it again with --keep\n" + "\n".join(found))


def read_record(out: Path) -> Line:
    """RETURNS (Line): The record of a folder whose training is finished; otherwise, or if it is damaged, empty."""
    try:
        return srsly.read_json(out / RECORD)
    except (OSError, ValueError):
        return {}


@app.command("table")
def show_table(study: StudyArgument, results: WrittenArgument) -> None:
    """Print the results as a Markdown table."""
    print("\n".join(summarise(read_study(study), list(read_results(results).values()))))


@app.command("types")
def show_types(
    study: StudyArgument,
    results: WrittenArgument,
    system: Annotated[Optional[List[str]], typer.Option(help="Systems; all by default.")] = None,
) -> None:
    """Print the F1 of each entity type as a Markdown table."""
    print("\n".join(by_type(list(read_results(results).values()), list(choose(read_study(study).systems, system)))))


@app.command("compare")
def show_difference(
    results: WrittenArgument,
    first: Annotated[str, typer.Argument(help="A system.")],
    second: Annotated[str, typer.Argument(help="The system to compare it with.")],
) -> None:
    """Print the gain in F1 of the first over the second, over the seeds that both have, with its 95 % bootstrap
    interval over test sets."""
    lines = read_results(results)
    choose({run.system: run for run in lines}, [first, second])
    print("\n".join(compare(list(lines.values()), first, second)))


if __name__ == "__main__":
    app()
