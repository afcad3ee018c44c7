"""The built packages: their metadata, and that they work when installed."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from email import message_from_bytes
from itertools import pairwise
from pathlib import Path
from zipfile import ZipFile

import pytest
from pages import read_blocks

import spacy_lexner

ROOT = Path(__file__).parents[1]
SOURCES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "configs", "spacy_lexner")
RELATIVE = re.compile(r"\]\((?!https?://)([^)#]+)")


def run(command, folder, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    command = [str(part) for part in command]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_sources(folder):
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A wheel and an sdist, the wheel built from the sdist."""
    folder = tmp_path_factory.mktemp("sources")
    copy_sources(folder)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"], folder)
    [wheel], [sdist] = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def read_metadata(wheel):
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_every_folder_with_code_is_a_package():
    # setup.py installs only packages: a folder without __init__.py works in a checkout but is missing elsewhere.
    folders = {file.parent for file in Path(spacy_lexner.__file__).parent.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_all_files_are_inside(packages):
    with ZipFile(packages["wheel"]) as wheel, tarfile.open(packages["sdist"]) as sdist:
        inside = set(wheel.namelist())
        sources = {name.partition("/")[2] for name in sdist.getnames()}
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spacy_lexner").rglob("*") if path.is_file()}
    package = {path for path in package if "__pycache__" not in path}
    configs = {path.name for path in (ROOT / "configs").glob("*.cfg")}
    assert package <= inside and {f"spacy_lexner/configs/{name}" for name in configs} <= inside
    assert package <= sources and {f"configs/{name}" for name in configs} | {"LICENSE", "README.md"} <= sources
    assert {path.split("/")[0] for path in inside} == {"spacy_lexner", "spacy_lexner-0.1.0.dist-info"}


def test_an_index_of_packages_takes_them(packages):
    run([sys.executable, "-m", "twine", "check", "--strict", *packages.values()], packages["wheel"].parent)


def test_metadata(packages):
    metadata = read_metadata(packages["wheel"])
    assert metadata["License-Expression"] == "MIT" and metadata["Requires-Python"] == ">=3.10"
    classifiers = set(metadata.get_all("Classifier"))
    assert {"Typing :: Typed", "Operating System :: OS Independent", "Topic :: Text Processing :: Linguistic"} <= (
        classifiers
    )
    versions = re.findall(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf8"))[0]
    assert {f"Programming Language :: Python :: {version}" for version in re.findall(r"[\d.]+", versions)} == {
        name for name in classifiers if re.fullmatch(r".*Python :: 3\.\d+", name)
    }


def test_what_an_index_shows_has_no_dead_links(packages):
    metadata = read_metadata(packages["wheel"])
    description = metadata.get_payload(decode=True).decode("utf8")
    assert description.startswith("# spacy_lexner") and "--8<--" not in description
    assert RELATIVE.findall(description) == []
    assert "example.org" not in str(metadata.items()) + description, "there is no repository yet, so no link to it"


def test_links_with_a_repository(tmp_path):
    copy_sources(tmp_path)
    about = tmp_path / "spacy_lexner" / "about.py"
    url = "https://github.com/owner/name"
    about.write_text(re.sub(r"https://example\.org/[\w-]+", url, about.read_text("utf8")), "utf8")
    run([sys.executable, "setup.py", "-q", "egg_info"], tmp_path)
    metadata = message_from_bytes((tmp_path / "spacy_lexner.egg-info" / "PKG-INFO").read_bytes())
    pages = [page.split(", ")[1] for page in metadata.get_all("Project-URL")]
    description = metadata.get_payload(decode=True).decode("utf8")
    linked = [*pages, *re.findall(r"\]\((https://github[^)#]+)", description)]
    inside = [path.removeprefix(f"{url}/blob/main/") for path in linked if path.startswith(f"{url}/blob/main/")]
    assert RELATIVE.findall(description) == [] and len(inside) > 10
    assert set(linked) - {f"{url}/blob/main/{path}" for path in inside} == {url, f"{url}/issues"}
    assert [path for path in inside if not (ROOT / path).exists()] == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_readme_runs_where_it_is_installed(packages, tmp_path, kind):
    """In a fresh environment that borrows our dependencies, and in a folder without sources."""
    run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], tmp_path)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], tmp_path).strip())
    borrowed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed), "utf8")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--ignore-installed"]
    run([python, "-m", "pip", "install", *offline, packages[kind]], tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    blocks = read_blocks(ROOT / "README.md")
    code, shown = next((a.body, b.body) for a, b in pairwise(blocks) if (a.language, b.language) == ("python", "text"))
    (elsewhere / "ten_lines.py").write_text(code + "import spacy_lexner\nprint(spacy_lexner.__file__)\n", "utf8")
    printed = run([python, "ten_lines.py"], elsewhere, OMP_NUM_THREADS="1")
    assert printed == f"{shown}{site / 'spacy_lexner' / '__init__.py'}\n"
    if kind == "sdist":
        return  # the same wheel, built on the spot
    config = run([python, "-m", "spacy", "lexner", "init-config", "-", "--encoder", "lebert"], elsewhere)
    assert "[components.lex_ner.model.tok2vec]" in config
