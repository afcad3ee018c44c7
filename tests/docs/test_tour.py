"""docs/usage/tour.ipynb runs with the saved output; the site has its cells."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat

DOCS = Path(__file__).parents[2] / "docs"
TOOL, TOUR = DOCS / "tools" / "notebook.py", DOCS / "usage" / "tour.ipynb"


def run(notebook):
    command = [sys.executable, str(TOOL), str(notebook), "--check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_it_shows_what_is_in_the_file():
    done = run(TOUR)
    assert done.returncode == 0, done.stderr


def test_other_outputs_are_found(tmp_path):
    cell = nbformat.v4.new_code_cell("print(1 + 1)", id="sum")
    for text, code in (("2\n", 0), ("3\n", 1)):
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "x.ipynb")
        done = run(tmp_path / "x.ipynb")
        assert done.returncode == code and ("cell 1 shows" in done.stderr) == bool(code), done.stderr


def test_it_shows_lattice_words_rules_and_scores():
    notebook = nbformat.read(TOUR, 4)
    nbformat.validate(notebook)
    titles = [line for cell in notebook.cells for line in re.findall("^## (.*)", cell.source, re.M)]
    assert titles == ["A small model", "The lattice", "Words", "Rules", "Scores"]
    assert all(cell.outputs for cell in notebook.cells[2:] if cell.cell_type == "code")
    assert "<svg" in str(notebook.cells[3].outputs)


def test_the_site_has_its_cells():
    spec = importlib.util.spec_from_file_location("notebook", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    file = SimpleNamespace(src_uri="usage/tour.md")
    page = tool.on_page_markdown(
        (DOCS / "usage" / "tour.md").read_text("utf8"),
        page=SimpleNamespace(file=file),
        config=SimpleNamespace(docs_dir=str(DOCS)),
    )
    assert re.findall("^## (.*)", page, re.M) == ["A small model", "The lattice", "Words", "Rules", "Scores"]
    assert (
        "```python\nfor match in doc._.lex_matches:" in page
        and "```text\n0 3 南京市\n" in page
        and "</svg></div>" in page
    )
    assert "](tour.ipynb)" in page, "the link to the file"
