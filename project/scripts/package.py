"""Package trained pipelines, each with a model card: what it was trained on, how good it is, where it fails, and how to
train it again. The card is the README.md of the package; its facts are in `meta.json` too."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Dict, List, NamedTuple

import srsly
import typer
from card import write_card
from paths import PROJECT
from pipeline_facts import Training, describe, read_spread
from pipelines import load_pipeline
from spacy.cli.package import package
from spacy.util import get_minor_version_range
from wasabi import msg

import spacy_lexner
from spacy_lexner.integrity.pipelines import seal_pipeline

DATA = PROJECT / "sources.yml"


class Packaged(NamedTuple):
    """A package: its name, and its folder, which pip can install and `python -m build` can turn into a wheel."""

    name: str
    folder: Path


def find_trained(project: Path) -> List[Training]:
    """RETURNS (List[Training]): What the workflow `train` has trained: every `training/DATASET/CONFIG/model-best` whose
    data set is in `corpus/`."""
    folders = sorted(path.parent for path in project.glob("training/*/*/model-best") if (path / "config.cfg").is_file())
    return [
        Training(folder.parent.name, folder.name)
        for folder in folders
        if (project / "corpus" / folder.parent.name / "test.spacy").is_file()
    ]


def make_package(training: Training, name: str, out: Path, *, version: str, results: str, project: Path) -> Packaged:
    """Evaluate a trained pipeline on the test set and package it with a card.

    training (Training): The data set and the config.
    name (str): The name of the package, without the language.
    out (Path): Folder for the package.
    version (str): Its version.
    results (str): Results file of a study, for the spread over seeds; empty for none.
    project (Path): The project's folder.
    RETURNS (Packaged): The package. Exits with a message if there is no trained pipeline.
    """
    folder = project / "training" / training.dataset / training.config / "model-best"
    facts = describe(load_pipeline(folder), training, project / "corpus" / training.dataset)
    facts["source"] = srsly.read_yaml(DATA).get(training.dataset, {"title": f"your own data, {training.dataset}"})
    facts["seeds"] = read_spread(Path(results), training) if results else []
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "model"
        shutil.copytree(folder, copy)
        meta = fill_meta(srsly.read_json(copy / "meta.json"), facts, name, version)
        srsly.write_json(copy / "meta.json", meta)
        (copy / "README.md").write_text(write_card(facts, f"{meta['lang']}_{name}", version), "utf8")
        full = f"{meta['lang']}_{name}"
        shutil.rmtree(out / f"{full}-{version}", ignore_errors=True)
        package(copy, out, name=name, version=version, create_sdist=False, create_wheel=False, silent=True)
    seal_pipeline(out / f"{full}-{version}" / full / f"{full}-{version}")
    msg.good(f"{out / f'{full}-{version}'}: the card is its README.md")
    return Packaged(full, out / f"{full}-{version}")


def fill_meta(meta: Dict[str, Any], facts: Dict[str, Any], name: str, version: str) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The pipeline's meta with the card's facts: name, sources, licence, `performance` on the
    test set, and all measurements under `card`."""
    source = facts["source"]
    kind = "Words and parts of speech" if facts["words"] else "Entities"
    known = {"name": source["title"], "url": source.get("url"), "license": source.get("license")}
    return {
        **meta,
        "name": name,
        "version": version,
        "description": f"{kind} in Chinese, {source.get('register', 'learned from ' + source['title'])}",
        "license": source.get("license", ""),
        "sources": [{key: value for key, value in known.items() if value}],
        "requirements": [f"spacy-lexner{get_minor_version_range(spacy_lexner.__version__)}"],
        "performance": {**meta.get("performance", {}), **facts["scores"]},
        "card": {key: value for key, value in facts.items() if key not in ("scores", "source")},
    }


def main(
    out: Annotated[Path, typer.Argument(help="Folder for the packages.")] = PROJECT / "packages",
    version: Annotated[str, typer.Option(help="Version of the packages.")] = "0.1.0",
    results: Annotated[str, typer.Option(help="Results file of a study, for the spread over seeds.")] = "",
) -> None:
    """Package every pipeline that the workflow `train` has trained."""
    if not (found := find_trained(PROJECT)):
        msg.fail("Nothing is trained yet", "python -m spacy project run train project --vars.dataset weibo", exits=1)
    for training in found:
        name = f"lexner_{training.dataset}_{training.config}".replace("-", "_").lower()
        make_package(training, name, out, version=version, results=results, project=PROJECT)


if __name__ == "__main__":
    typer.run(main)
