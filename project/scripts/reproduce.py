"""Train the papers' systems and print the papers' results beside ours. Finished runs are not repeated."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, Dict, Iterator, List, Sequence

import srsly
import typer
from paths import PROJECT, SPLITS, find_checkpoint
from study_file import Study, read_study
from study_inputs import describe, refuse_changes
from study_results import read_results
from study_table import spread
from thinc.util import has_cupy_gpu, has_torch_cuda_gpu
from wasabi import msg

STUDY = PROJECT / "studies" / "reproduce.yml"
PAPERS = PROJECT / "reproduce" / "papers.yml"
VECTORS = {
    "character_vectors": "gigaword_chn.all.a2b.uni.ite50.vec",
    "bigram_vectors": "gigaword_chn.all.a2b.bi.ite50.vec",
}


def choose_device(gpu_id: int) -> int:
    """RETURNS (int): The given GPU; for -1 the first one if spaCy can use a GPU, else -1."""
    if gpu_id >= 0 or (has_cupy_gpu and has_torch_cuda_gpu):
        return max(gpu_id, 0)
    remedy = "spaCy needs CuPy: pip install cupy-cuda12x" if has_torch_cuda_gpu else "All rows take a GPU days."
    msg.warn("Training on the CPU", remedy)
    return -1


def overrides(checkpoint: str) -> List[str]:
    """RETURNS (List[str]): The settings of `spacy train` that all systems share: the encoder, and the character and
    bigram vectors that exist."""
    paths = {name: PROJECT / "assets" / "vectors" / file for name, file in VECTORS.items()}
    found = [f"--paths.{name}={path}" for name, path in paths.items() if path.is_file()]
    return [f"--paths.checkpoint={find_checkpoint(checkpoint)}", *found]


def compare(study: Study, papers: Sequence[Dict[str, Any]], lines: Sequence[Dict[str, Any]]) -> Iterator[str]:
    """YIELDS (str): Lines of Markdown: for each paper a table of its F1 on each data set, ours over the seeds, and the
    difference between the means, in percent."""
    ours: Dict[Any, List[float]] = {}
    for line in lines:
        if line["test"]:
            ours.setdefault((line["system"], line["dataset"]), []).append(line["test"]["ents_f"] or 0.0)
    for paper in papers:
        yield from ("", f"**{paper['paper']}** ({paper['url']}). {paper['note']}", "")
        yield "| system | data set | paper | here | difference | seeds |"
        yield "|---|---|---:|---:|---:|---:|"
        for system, row in paper["rows"].items():
            for dataset, published in row.items():
                scores = ours.get((system, dataset), [])
                gap = f"{100 * mean(scores) - published:+.1f}" if scores else "–"
                title = study.systems[system].title
                yield f"| {title} | {dataset} | {published:.2f} | {spread(scores)} | {gap} | {len(scores)} |"


def main(
    datasets: Annotated[str, typer.Argument(help="Data sets, separated by spaces; OntoNotes 4 is added if converted.")],
    out: Annotated[Path, typer.Argument(help="Folder for the results, a JSON line per run, and the tables.")],
    checkpoint: Annotated[str, typer.Option(help="The pretrained encoder, a folder or a Hugging Face name.")],
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to SEEDS - 1.")] = 3,
    gpu_id: Annotated[int, typer.Option(help="GPU; -1 for the first one, or the CPU if there is none.")] = -1,
    options: Annotated[str, typer.Option(help="More settings of `spacy train`, for all systems.")] = "",
) -> None:
    """Do the runs missing from the results, then print all tables. Exits with an error if a run failed."""
    results = out / f"{Path(checkpoint).name}.jsonl"
    study, settings = read_study(STUDY), [*overrides(checkpoint), *shlex.split(options)]
    lines = read_results(results)  # all of them are in the tables, also of runs that are not to be done now
    known = [run for run in lines if run.system in study.systems]
    refuse_changes(results, lines, {run: describe(run, study.systems, settings) for run in known})
    names = datasets.split()
    if all((PROJECT / "corpus" / "ontonotes" / f"{split}.spacy").is_file() for split in SPLITS):
        names.append("ontonotes")
    command = [sys.executable, str(PROJECT / "scripts" / "study.py"), "run", str(STUDY), str(results)]
    command += [part for name in names for part in ("--dataset", name)]
    command += ["--seeds", str(seeds), "--gpu-id", str(choose_device(gpu_id)), *settings]
    done = subprocess.run(command)
    if runs := read_results(results):
        tables = [f"Checkpoint: {checkpoint}", *compare(study, srsly.read_yaml(PAPERS), list(runs.values()))]
        results.with_suffix(".md").write_text("\n".join(tables) + "\n", "utf8")
        print("\n".join(tables))
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    typer.run(main)
