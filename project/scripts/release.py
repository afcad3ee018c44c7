"""Build wheels of trained pipelines, and check that each gives the same results in a fresh environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, List, Sequence, Tuple

import typer
from package import make_package, module_name
from paths import PROJECT
from pipeline_facts import Training, check_results
from pipelines import load_pipeline
from spacy.language import Language
from wasabi import msg

SENTENCES = PROJECT / "demo" / "sentences.txt"
REPOSITORY = PROJECT.parent
OWN = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "configs", "spacy_lexner")
# Runs in the fresh environment: loads the package and prints tokens, parts of speech and entities as JSON.
RUN = """
import json, sys, {name}
nlp = {name}.load()
print(json.dumps([[[t.text, t.pos_] for t in d] + [[e.start_char, e.end_char, e.label_] for e in d.ents]
                  for d in nlp.pipe(json.load(sys.stdin))]))
"""


def run(command: Sequence[object], folder: Path, text: str = "") -> str:
    """RETURNS (str): The output of a command. Exits with its last lines if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=folder, env=environment, input=text, capture_output=True, text=True, encoding="utf8"
    )
    if done.returncode:
        msg.fail(" ".join(words), "\n".join((done.stdout + done.stderr).split("\n")[-15:]), exits=1)
    return done.stdout


def build_wheel(source: Path, out: Path, names: Sequence[str] = ("*",)) -> Path:
    """Build a wheel offline, with the installed tools, from a copy, so that the source folder stays clean.

    source (Path): The folder with `setup.py`.
    out (Path): Folder for the wheel.
    names (Sequence[str]): Patterns of the files and folders in `source` that belong to the package.
    RETURNS (Path): The wheel.
    """
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "copy"
        copy.mkdir()
        for path in (path for name in names for path in source.glob(name)):
            if path.is_dir():
                shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(path, copy)
        run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, copy], copy)
        [wheel] = Path(place).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, out / wheel.name))


def make_environment(folder: Path, wheels: Sequence[Path], download: bool) -> Path:
    """Make an environment with nothing but some wheels and their dependencies.

    folder (Path): A new folder for it.
    wheels (Sequence[Path]): The wheels.
    download (bool): Whether pip downloads the dependencies; otherwise those of the current environment are borrowed.
    RETURNS (Path): Its interpreter.
    """
    run([sys.executable, "-m", "venv", *([] if download else ["--without-pip"]), folder], folder.parent)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    options: List[object] = ["--quiet"]
    if not download:
        site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip())
        borrowed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n", "utf8")
        options += ["--no-deps", "--no-index", "--ignore-installed"]
    run([python, "-m", "pip", "install", *options, *wheels], folder)
    return python


def describe_texts(nlp: Language, texts: Sequence[str]) -> List[object]:
    """RETURNS (List[object]): What `RUN` would print, computed in this process."""
    return [
        [[token.text, token.pos_] for token in doc] + [[ent.start_char, ent.end_char, ent.label_] for ent in doc.ents]
        for doc in nlp.pipe(texts)
    ]


def read_release(pipelines: str) -> List[Tuple[str, Training]]:
    """RETURNS (List[Tuple[str, Training]]): The names and trainings in `news=msra/flat posts=weibo/flat`. Exits with a
    message if one is malformed or not trained."""
    chosen = []
    for part in pipelines.split():
        name, separator, training = part.partition("=")
        dataset, slash, config = training.partition("/")
        if not (name and separator and dataset and slash and config):
            msg.fail(f"{part!r} is not of the form NAME=DATASET/CONFIG", "For example posts=weibo/flat", exits=1)
        if not (PROJECT / "training" / dataset / config / "model-best" / "config.cfg").is_file():
            how = f"python -m spacy project run train project --vars.dataset {dataset} --vars.config {config}"
            msg.fail(f"The pipeline for {name} is not trained yet", how, exits=1)
        chosen.append((name, Training(dataset, config)))
    return chosen


def main(
    pipelines: Annotated[str, typer.Argument(help="What to release: NAME=DATASET/CONFIG, separated by spaces.")],
    out: Annotated[Path, typer.Argument(help="Folder for the packages, with the wheels in `dist`.")],
    version: Annotated[str, typer.Option(help="Version of the wheels.")] = "0.1.0",
    results: Annotated[str, typer.Option(help="Results file of a study, for the spread over seeds.")] = "",
    download: Annotated[
        bool,
        typer.Option("--download", help="Let pip download the dependencies instead of borrowing the installed ones."),
    ] = False,
) -> None:
    """Build a wheel of each pipeline, install it with that of spacy-lexner into a fresh environment, and run it."""
    check_results(results)
    chosen, texts = read_release(pipelines), SENTENCES.read_text("utf8").split("\n")[:-1]
    own = build_wheel(REPOSITORY, out / "dist", OWN)
    for name, training in chosen:
        packaged = make_package(training, module_name(name), out, version=version, results=results, project=PROJECT)
        wheel = build_wheel(packaged.folder, out / "dist")
        here = load_pipeline(PROJECT / "training" / training.dataset / training.config / "model-best")
        with tempfile.TemporaryDirectory() as place:
            python = make_environment(Path(place) / "environment", [own, wheel], download)
            printed = run([python, "-c", RUN.format(name=packaged.name)], Path(place), json.dumps(texts))
        if json.loads(printed.splitlines()[-1]) != json.loads(json.dumps(describe_texts(here, texts))):
            msg.fail(f"{packaged.name} gives different results when installed", str(wheel), exits=1)
        msg.good(f"{wheel}: installed into a fresh environment, gives the same results on {len(texts)} texts")


if __name__ == "__main__":
    typer.run(main)
