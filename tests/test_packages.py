import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spacy_lexner


def test_every_folder_with_code_is_a_package():
    # setup.py installs packages only: without its __init__.py a folder works in a checkout and is missing elsewhere.
    folders = {file.parent for file in Path(spacy_lexner.__file__).parent.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_what_is_installed_holds_the_bases_of_configs(tmp_path):
    root = Path(__file__).parents[1]
    build = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", tmp_path, "build", "--build-base", tmp_path]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    bases = {path.name for path in (root / "configs").glob("*.cfg")}
    assert {path.name for path in (tmp_path / "lib" / "spacy_lexner" / "configs").iterdir()} == bases
    command = [sys.executable, "-m", "spacy", "lexner", "init-config", "-", "--encoder", "lebert"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert "[components.lex_ner.model.tok2vec]" in done.stdout


def test_nothing_that_a_project_makes_is_tracked():
    # A tracked project/corpus, or a link of that name, stops `spacy project run all` in a fresh clone.
    root = Path(__file__).parents[1]
    if shutil.which("git") is None or not (root / ".git").exists():
        pytest.skip("needs git and a checkout")
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    tracked = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split()
    assert tracked == []
