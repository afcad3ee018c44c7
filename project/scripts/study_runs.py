"""One run of a study: trained by `spacy train` in a process of its own, selected on dev and evaluated on test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

import srsly
from evaluate import evaluate, mentions
from paths import CONFIGS, PROJECT
from pipelines import complete, load_pipeline, read_examples
from spacy.language import Language
from spacy.training import Example
from study_file import System
from study_results import Run

NESTED = "sc"  # the key of overlapping entities, in corpora and pipelines that have them
# One core per run.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


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
        raise RuntimeError(f"failed, see {log}:\n{end}")
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
        seen = mentions(read_examples(nlp, corpus / "train.spacy")[: find_limit(nlp)])
        examples = read_examples(nlp, corpus / "test.spacy")
        line["test"] = evaluate(nlp, examples, seen)
        line["counts"] = [count(example) for example in examples]
    return line


def find_limit(nlp: Language) -> Optional[int]:
    """RETURNS (Optional[int]): How many training texts a pipeline was trained on, by its config, which also has what
    was overridden on the command line; None for all."""
    return nlp.config["corpora"]["train"].get("limit") or None


def count(example: Example) -> List[int]:
    """RETURNS (List[int]): How many entities of a text were found, spurious, missed."""
    gold, found = entities(example.reference), entities(example.predicted)
    return [len(gold & found), len(found - gold), len(gold - found)]


def entities(doc: Any) -> Set[Any]:
    spans = doc.spans.get(NESTED, doc.ents)
    return {(span.start_char, span.end_char, span.label_) for span in spans}
