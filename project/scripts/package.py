"""Package trained pipelines, each with a model card: what it was trained on, how good it is, where it fails, and how to
train it again. The card is the README.md of the package; its facts are in `meta.json` too."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Dict, List, NamedTuple, Sequence

import srsly
import typer
from card import introduce, write_card
from paths import CONFIGS, PROJECT
from pipeline_facts import Training, check_results, describe, read_spread
from pipelines import load_pipeline
from spacy.cli.package import package
from spacy.util import get_minor_version_range
from training_command import find_variables
from wasabi import msg

import spacy_lexner
from spacy_lexner.integrity.folders import whole_folder
from spacy_lexner.integrity.pipelines import seal_pipeline

DATA = PROJECT / "sources.yml"


class Packaged(NamedTuple):
    """A package: its name, and its folder, which pip can install and `python -m build` can turn into a wheel."""

    name: str
    folder: Path


def find_trained(project: Path) -> List[Training]:
    """RETURNS (List[Training]): What the workflow `train` has trained: every `training/DATASET/CONFIG/model-best` whose
    config has a base and whose data set is in `corpus/`. The demo's are not: they are named after their lexicons."""
    folders = sorted(path.parent for path in project.glob("training/*/*/model-best") if (path / "config.cfg").is_file())
    return [
        Training(folder.parent.name, folder.name)
        for folder in folders
        if (CONFIGS / f"{folder.name}.cfg").is_file()
        and (project / "corpus" / folder.parent.name / "test.spacy").is_file()
    ]


def module_name(*parts: str) -> str:
    """RETURNS (str): A name for a package, without the language: ASCII letters, digits and single underscores, all that
    spaCy and pip tell apart."""
    return re.sub("[^a-z0-9]+", "_", "_".join(["lexner", *parts]).lower()).rstrip("_")


def make_package(training: Training, name: str, out: Path, *, version: str, results: str, project: Path) -> Packaged:
    """Evaluate a trained pipeline on the test set and package it with a card.

    training (Training): The data set and the config.
    name (str): The name of the package, without the language.
    out (Path): Folder for the package.
    version (str): Its version.
    results (str): Results file of a study, for the spread over seeds; empty for none.
    project (Path): The project's folder.
    RETURNS (Packaged): The package. Exits with a message if there is no trained pipeline. Raises ValueError if it
        cannot be measured on this data set, or the study has no such system.
    """
    seeds = read_spread(Path(results), training) if results else []
    folder = project / "training" / training.dataset / training.config / "model-best"
    nlp = load_pipeline(folder)
    full = f"{nlp.lang}_{name}"
    place = out / f"{full}-{version}"
    inside = Path(full, f"{full}-{version}")  # the pipeline's folder in the package
    facts = {
        **describe(nlp, training, project / "corpus" / training.dataset),
        "source": srsly.read_yaml(DATA).get(training.dataset, {"title": f"your own data, {training.dataset}"}),
        "seeds": seeds,
        "variables": find_variables(nlp, training, project, Path(os.path.relpath(place / inside, project)).as_posix()),
    }
    with tempfile.TemporaryDirectory() as temporary, whole_folder(place, overwrite=True) as new:
        copy, built = Path(temporary) / "model", Path(temporary) / "built"
        built.mkdir()
        shutil.copytree(folder, copy)
        meta = fill_meta(srsly.read_json(copy / "meta.json"), facts, name, version)
        srsly.write_json(copy / "meta.json", meta)
        (copy / "README.md").write_text(write_card(facts, full, version), "utf8")
        package(copy, built, name=name, version=version, create_sdist=False, create_wheel=False, silent=True)
        shutil.copytree(built / place.name, new, dirs_exist_ok=True)
        seal_pipeline(new / inside)
    msg.good(f"{place}: the card is its README.md")
    return Packaged(full, place)


def fill_meta(meta: Dict[str, Any], facts: Dict[str, Any], name: str, version: str) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The pipeline's meta with the card's facts: name, sources, licence, `performance` on the
    test set, and all measurements under `card`."""
    source = facts["source"]
    known = {"name": source["title"], "url": source.get("url"), "license": source.get("license")}
    return {
        **meta,
        "name": name,
        "version": version,
        "description": f"{introduce(facts)}, {source.get('register', 'learned from ' + source['title'])}",
        "license": source.get("license", ""),
        "sources": [{key: value for key, value in known.items() if value}],
        "requirements": [f"spacy-lexner{get_minor_version_range(spacy_lexner.__version__)}"],
        "performance": {**meta.get("performance", {}), **facts["scores"]},
        "card": {key: value for key, value in facts.items() if key not in ("scores", "source")},
    }


def make_all(found: Sequence[Training], out: Path, *, version: str, results: str) -> List[Training]:
    """Make a package of each of several trained pipelines.

    RETURNS (List[Training]): Those that failed, after a message about each.
    """
    names: Dict[str, Training] = {}
    failed = []
    for training in found:
        name = module_name(*training)
        try:
            if (first := names.setdefault(name, training)) != training:
                remedy = "Rename its folders in training/ and corpus/."
                raise ValueError(f"{'/'.join(first)} is called {name} already. {remedy}")
            make_package(training, name, out, version=version, results=results, project=PROJECT)
        except (Exception, SystemExit) as error:  # spaCy and the other scripts exit, with a message or after one
            said = None if isinstance(error, SystemExit) and isinstance(error.code, int) else str(error)
            msg.fail(f"{'/'.join(training)} is not packaged", said)
            failed.append(training)
    return failed


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the packages.")] = PROJECT / "packages",
    version: Annotated[str, typer.Option(help="Version of the packages.")] = "0.1.0",
    results: Annotated[str, typer.Option(help="Results file of a study, for the spread over seeds.")] = "",
) -> None:
    """Package every pipeline that the workflow `train` has trained."""
    if not (found := find_trained(PROJECT)):
        msg.fail("Nothing is trained yet", "python -m spacy project run train project --vars.dataset weibo", exits=1)
    check_results(results)
    if failed := make_all(found, out, version=version, results=results):
        names = ", ".join("/".join(training) for training in failed)
        text = f"{len(failed)} of {len(found)} pipelines are not packaged: {names}"
        msg.fail(text, "The reasons are above.", exits=1)


if __name__ == "__main__":
    typer.run(main)
