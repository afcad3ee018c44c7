"""A study: systems × data sets × seeds, each trained by `spacy train`, chosen on dev, evaluated on test once.

Each run appends a line to a results file and is skipped if its line is there, so a study can be stopped and resumed.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import srsly
import typer
from evaluate import evaluate, mentions
from pipelines import load_pipeline, read_examples
from tqdm import tqdm
from wasabi import msg

PROJECT = Path(__file__).parents[1]
# One core for a run. And glibc gives memory back, where batches of many shapes would else double what a run holds.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "1000000"}
COLUMNS = {"ents_p": "P", "ents_r": "R", "ents_f": "F1", "recall_unseen": "recall of unseen entities"}
app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)


class System(NamedTuple):
    """What is compared: a config, the lexicon it gets, its name in the table, and the score it is chosen by on dev."""

    config: str
    lexicon: Optional[str]
    title: str
    score: str = "ents_f"


SYSTEMS = {
    "lebert": System("lebert", "lexicon", "LEBERT with the lexicon"),
    "lebert-empty": System("lebert", "empty", "LEBERT with an empty lexicon"),
    "ner": System("baseline", None, "spaCy's `ner`"),
}


class Run(NamedTuple):
    """One run of the study."""

    dataset: str
    system: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.system}-{self.seed}"


def read_results(path: Path) -> Dict[Run, Dict[str, Any]]:
    """RETURNS (Dict[Run, Dict[str, Any]]): The lines of a results file by run."""
    lines = srsly.read_jsonl(path) if path.is_file() else []
    return {Run(line["dataset"], line["system"], line["seed"]): line for line in lines}


def train(run: Run, lexicons: Dict[str, Path], out: Path, overrides: List[str], gpu_id: int) -> float:
    """Train one pipeline in a process of its own, on one core.

    run (Run): The run.
    lexicons (Dict[str, Path]): Folder of each kind of lexicon.
    out (Path): Folder for the pipeline; the output goes to a log beside it.
    overrides (List[str]): Further arguments of `spacy train`.
    gpu_id (int): The GPU, or -1 for the CPU.
    RETURNS (float): Seconds. Raises RuntimeError with the end of the log where training fails.
    """
    system, corpus = SYSTEMS[run.system], PROJECT / "corpus" / run.dataset
    command = [sys.executable, "-m", "spacy", "train", str(PROJECT.parent / "configs" / f"{system.config}.cfg")]
    command += ["--output", str(out), "--gpu-id", str(gpu_id), "--system.seed", str(run.seed)]
    command += ["--paths.train", str(corpus / "train.spacy"), "--paths.dev", str(corpus / "dev.spacy")]
    if system.lexicon is not None:
        command += ["--paths.lexicon", str(lexicons[system.lexicon])]
    log = out.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with log.open("w", encoding="utf8") as file:
        environment = {**os.environ, **ENVIRONMENT}
        done = subprocess.run([*command, *overrides], stdout=file, stderr=subprocess.STDOUT, env=environment)
    if done.returncode:
        end = "\n".join(log.read_text("utf8").split("\n")[-15:])
        raise RuntimeError(f"{run.name}: training failed, see {log}:\n{end}")
    return time.perf_counter() - start


def measure(run: Run, out: Path, gpu_id: int) -> Dict[str, Any]:
    """Evaluate the best pipeline of a run on test.

    run (Run): The run.
    out (Path): The folder that `spacy train` wrote.
    gpu_id (int): The GPU, or -1 for the CPU.
    RETURNS (Dict[str, Any]): F-score on dev, all scores on test, and the size of the saved pipeline.
    """
    nlp = load_pipeline(out / "model-best", gpu_id)
    corpus = PROJECT / "corpus" / run.dataset
    seen = mentions(read_examples(nlp, corpus / "train.spacy"))
    test = evaluate(nlp, read_examples(nlp, corpus / "test.spacy"), seen)
    size = sum(file.stat().st_size for file in (out / "model-best").rglob("*") if file.is_file())
    dev = nlp.meta["performance"][SYSTEMS[run.system].score]
    return {"dev_f": dev, "test": test, "megabytes": round(size / 1e6, 2), "version": nlp.meta["spacy_version"]}


def summarise(results: Dict[Run, Dict[str, Any]]) -> Iterator[str]:
    """YIELDS (str): The lines of a Markdown table: mean and standard deviation over seeds, in percent."""
    yield f"| data set | system | {' | '.join(COLUMNS.values())} | F1 on dev | seeds |"
    yield f"|---|---|{'---:|' * (len(COLUMNS) + 2)}"
    groups: Dict[Tuple[str, str], List[Dict[str, Any]]] = {}
    for run, line in results.items():
        groups.setdefault((run.dataset, run.system), []).append(line)
    order = list(SYSTEMS)
    for dataset, system in sorted(groups, key=lambda group: (group[0], order.index(group[1]))):
        lines = groups[dataset, system]
        cells = [spread([line["test"].get(key) for line in lines]) for key in COLUMNS]
        cells.append(spread([line["dev_f"] for line in lines]))
        yield f"| {dataset} | {SYSTEMS[system].title} | {' | '.join(cells)} | {len(lines)} |"


def spread(values: List[Optional[float]]) -> str:
    """RETURNS (str): Mean ± standard deviation, in percent; only the mean of a single value."""
    numbers = [100 * value for value in values if value is not None]
    if not numbers:
        return "–"
    deviation = f" ± {statistics.stdev(numbers):.1f}" if len(numbers) > 1 else ""
    return f"{statistics.mean(numbers):.1f}{deviation}"


@app.command("run", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run_study(
    context: typer.Context,
    results: Annotated[Path, typer.Argument(help="Results file, a JSON line per run.")],
    dataset: Annotated[List[str], typer.Option(help="Data sets; repeat the option for several.")],
    lexicon: Annotated[Path, typer.Option(help="Lexicon folder.")] = PROJECT / "lexicon" / "study",
    empty: Annotated[Path, typer.Option(help="Folder of an empty lexicon.")] = PROJECT / "lexicon" / "empty",
    system: Annotated[Optional[List[str]], typer.Option(help="Systems; all by default.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to SEEDS - 1.")] = 3,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    keep: Annotated[bool, typer.Option(help="Keep the trained pipelines.")] = False,
) -> None:
    """Do the runs that the results file does not have. Further arguments go to `spacy train`."""
    systems = system or list(SYSTEMS)
    unknown = sorted(set(systems) - set(SYSTEMS))
    if unknown:
        msg.fail(f"Unknown system '{unknown[0]}'", f"Known are {', '.join(SYSTEMS)}.", exits=1)
    paths = [PROJECT / "corpus" / name / f"{split}.spacy" for name in dataset for split in ("train", "dev", "test")]
    for path in [*paths, lexicon, empty]:
        if not path.exists():
            msg.fail(
                f"{path} is missing", "The workflow 'data' makes corpora, scripts/build_lexicon.py lexicons.", exits=1
            )
    runs = [Run(name, each, seed) for seed in range(seeds) for name in dataset for each in systems]
    failed = 0
    for run in (bar := tqdm(runs, unit="run")):
        bar.set_description(run.name)
        if run in read_results(results):
            continue
        out = PROJECT / "training" / "study" / run.name
        try:
            seconds = train(run, {"lexicon": lexicon, "empty": empty}, out, context.args, gpu_id)
        except RuntimeError as error:
            msg.fail(str(error))
            failed += 1
            continue
        line = {**run._asdict(), **measure(run, out, gpu_id), "seconds": round(seconds, 1), "arguments": context.args}
        results.parent.mkdir(parents=True, exist_ok=True)
        with results.open("a", encoding="utf8") as file:
            file.write(json.dumps(line) + "\n")
        if not keep:
            shutil.rmtree(out)
    if failed:
        msg.fail(f"{failed} runs failed; run the same command again to repeat them", exits=1)


@app.command("table")
def show_table(results: Annotated[Path, typer.Argument(exists=True, help="Results file.")]) -> None:
    """Print the results as a Markdown table."""
    print("\n".join(summarise(read_results(results))))


if __name__ == "__main__":
    app()
