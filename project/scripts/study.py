"""A study: systems × data sets × seeds, each trained by `spacy train`, selected on dev and evaluated on test once.

Each run appends a line to a results file and is skipped if that line exists, so a study can be stopped and resumed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Dict, List, NamedTuple, Optional, Set

import srsly
import typer
from evaluate import evaluate, mentions
from paths import CONFIGS, PROJECT, SPLITS
from pipelines import complete, load_pipeline, read_examples
from spacy.training import Example
from study_file import Study, System, read_study
from study_table import by_type, compare, summarise
from tqdm import tqdm
from wasabi import msg

NESTED = "sc"  # the key of overlapping entities, in corpora and pipelines that have them
# One core per run.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
StudyArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file in studies/.")]
ResultsArgument = Annotated[Path, typer.Argument(help="Results file, a JSON line per run.")]


class Run(NamedTuple):
    """One run of the study."""

    dataset: str
    system: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.system}-{self.seed}"


def read_results(path: Path) -> Dict[Run, Dict[str, Any]]:
    """RETURNS (Dict[Run, Dict[str, Any]]): The lines of a results file, by run."""
    lines = srsly.read_jsonl(path) if path.is_file() else []
    return {Run(line["dataset"], line["system"], line["seed"]): line for line in lines}


def train(run: Run, system: System, out: Path, overrides: List[str], gpu_id: int) -> float:
    """Make one pipeline in a process of its own, on one core: train it, or combine those of its members.

    run (Run): The run.
    system (System): Its system.
    out (Path): Folder for the pipeline; the output goes to a log file beside it.
    overrides (List[str]): More arguments for `spacy train`.
    gpu_id (int): The GPU, or -1 for the CPU.
    RETURNS (float): Seconds. Raises RuntimeError with the end of the log if it fails.
    """
    arguments = combining(run, system, out) if system.members else training(run, system, out, overrides, gpu_id)
    command = [sys.executable, "-m", "spacy", *arguments]
    log = out.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with log.open("w", encoding="utf8") as file:
        environment = {**os.environ, **ENVIRONMENT}
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
    if done.returncode:
        end = "\n".join(log.read_text("utf8").split("\n")[-15:])
        raise RuntimeError(f"{run.name} failed, see {log}:\n{end}")
    return time.perf_counter() - start


def training(run: Run, system: System, out: Path, overrides: List[str], gpu_id: int) -> List[str]:
    """RETURNS (List[str]): The spaCy command that trains a pipeline. See `train`."""
    corpus = PROJECT / "corpus" / run.dataset
    config = complete(CONFIGS / f"{system.config}.cfg", out.with_suffix(".cfg"))
    command = ["train", str(config)]
    command += ["--output", str(out), "--gpu-id", str(gpu_id), "--system.seed", str(run.seed)]
    command += ["--paths.train", str(corpus / "train.spacy"), "--paths.dev", str(corpus / "dev.spacy")]
    if system.lexicon is not None:
        command += ["--paths.lexicon", str(PROJECT / system.lexicon)]
    if system.limit:
        command += ["--corpora.train.limit", str(system.limit)]
    return [*command, *system.arguments, *overrides]


def combining(run: Run, system: System, out: Path) -> List[str]:
    """RETURNS (List[str]): The spaCy command that combines the members' pipelines."""
    folders = [out.with_name(run._replace(system=member).name) / "model-best" for member in system.members]
    return ["lexner", "combine", *map(str, folders), "-o", str(out / "model-best"), "--force"]


def measure(run: Run, system: System, out: Path, gpu_id: int, *, test: bool = True) -> Dict[str, Any]:
    """Evaluate the best pipeline of a run.

    run (Run): The run.
    system (System): Its system.
    out (Path): The folder that `spacy train` wrote.
    gpu_id (int): The GPU, or -1 for the CPU.
    test (bool): Whether to use the test split at all.
    RETURNS (Dict[str, Any]): The score on dev, the size of the saved pipeline, all scores on test, and for each test
        text how many entities were found, spurious and missed.
    """
    folder, corpus = out / "model-best", PROJECT / "corpus" / run.dataset
    performance = srsly.read_json(folder / "meta.json")["performance"]
    if system.members:
        nlp = load_pipeline(folder, gpu_id)
        performance = nlp.evaluate(read_examples(nlp, corpus / "dev.spacy"))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    line = {"dev": performance[system.score], "megabytes": round(size / 1e6, 3), "test": {}, "counts": []}
    if test:
        nlp = load_pipeline(folder, gpu_id)
        seen = mentions(read_examples(nlp, corpus / "train.spacy")[: system.limit or None])
        examples = read_examples(nlp, corpus / "test.spacy")
        line["test"] = evaluate(nlp, examples, seen)
        line["counts"] = [count(example) for example in examples]
    return line


def count(example: Example) -> List[int]:
    """RETURNS (List[int]): How many entities of a text were found, spurious, missed."""
    gold, found = entities(example.reference), entities(example.predicted)
    return [len(gold & found), len(found - gold), len(gold - found)]


def entities(doc: Any) -> Set[Any]:
    spans = doc.spans.get(NESTED, doc.ents)
    return {(span.start_char, span.end_char, span.label_) for span in spans}


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
    systems = choose(read_study(study), system)
    used = [each.on(name) for each in systems.values() for name in dataset]
    lexicons = [PROJECT / each.lexicon for each in used if each.lexicon is not None]
    for path in [*(PROJECT / "corpus" / name / f"{split}.spacy" for name in dataset for split in SPLITS), *lexicons]:
        if not path.exists():
            how = "The workflow 'data' makes corpora, and scripts/build_lexicon.py lexicons."
            msg.fail(f"{path} is missing", how, exits=1)
    runs = [Run(name, each, seed) for seed in range(seeds) for name in dataset for each in systems]
    failed = 0
    for run in (bar := tqdm(runs, unit="run")):
        bar.set_description(run.name)
        if run in read_results(results):
            continue
        out = PROJECT / "training" / study.stem / run.name
        try:
            seconds = train(run, systems[run.system].on(run.dataset), out, context.args, gpu_id)
        except RuntimeError as error:
            msg.fail(str(error))
            failed += 1
            continue
        measured = measure(run, systems[run.system], out, gpu_id, test=not dev_only)
        line = {**run._asdict(), "arguments": context.args, "seconds": round(seconds, 1), **measured}
        results.parent.mkdir(parents=True, exist_ok=True)
        with results.open("a", encoding="utf8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        if not keep:
            shutil.rmtree(out)
    if failed:
        msg.fail(f"{failed} runs failed; repeat them with the same command", exits=1)


def choose(study: Study, names: Optional[List[str]]) -> Dict[str, System]:
    """RETURNS (Dict[str, System]): The named systems, or all. Exits with a message if one is unknown."""
    unknown = sorted(set(names or ()) - set(study.systems))
    if unknown:
        msg.fail(f"Unknown system '{unknown[0]}'", f"Known are {', '.join(study.systems)}.", exits=1)
    return {name: study.systems[name] for name in names or study.systems}


@app.command("table")
def show_table(study: StudyArgument, results: ResultsArgument) -> None:
    """Print the results as a Markdown table."""
    print("\n".join(summarise(read_study(study), list(read_results(results).values()))))


@app.command("types")
def show_types(
    study: StudyArgument,
    results: ResultsArgument,
    system: Annotated[Optional[List[str]], typer.Option(help="Systems; all by default.")] = None,
) -> None:
    """Print the F1 of each entity type as a Markdown table."""
    print("\n".join(by_type(list(read_results(results).values()), list(choose(read_study(study), system)))))


@app.command("compare")
def show_difference(
    results: ResultsArgument,
    first: Annotated[str, typer.Argument(help="A system.")],
    second: Annotated[str, typer.Argument(help="The system to compare it with.")],
) -> None:
    """Print the gain in F1 of the first over the second, over the seeds that both have, with its 95 % bootstrap
    interval over test sets."""
    print("\n".join(compare(list(read_results(results).values()), first, second)))


if __name__ == "__main__":
    app()
