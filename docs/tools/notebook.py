"""Runs and checks the notebooks of the docs, and shows them on the site as an mkdocs hook.

    python docs/tools/notebook.py docs/usage/tour.ipynb            # run it and save the output
    python docs/tools/notebook.py docs/usage/tour.ipynb --check    # run it and fail if the output differs, except for
                                                                   # small differences in scores

On a line of its own, `[tour.ipynb](tour.ipynb)` stands for the cells of that notebook, which GitHub renders itself. In
a Chinese page, which has its own text between the cells, `[代码](tour.ipynb)` stands for the next code cell.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List

import nbformat
from nbclient import NotebookClient

PLACE = re.compile(r"^\[([\w-]+\.ipynb)\]\(\1\)$", re.M)
CELL = re.compile(r"^\[代码\]\(([\w-]+\.ipynb)\)$", re.M)
SCORE = re.compile(r"\b[01]\.\d+")
TOLERANCE = 0.02  # for scores, since the notebook trains its model and processors differ
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def on_page_markdown(markdown: str, *, page: Any, config: Any, **kwargs: Any) -> str:
    return fill(markdown, (Path(config.docs_dir) / page.file.src_uri).parent)


def fill(markdown: str, folder: Path) -> str:
    """Insert cells at their placeholders. Raises ValueError if a page lacks placeholders for some code cells."""
    if names := CELL.findall(markdown):
        cells = [cell for cell in nbformat.read(folder / names[0], 4).cells if cell.cell_type == "code"]
        if names != names[:1] * len(cells):
            raise ValueError(f"{folder}: placeholders for {names}, but {names[0]} has {len(cells)} code cells")
        following = iter(cells)
        markdown = CELL.sub(lambda place: "\n\n".join(describe([next(following)])), markdown)
    return PLACE.sub(lambda place: "\n\n".join(describe(nbformat.read(folder / place[1], 4).cells)), markdown)


def describe(cells: Iterable[Any]) -> Iterator[str]:
    """YIELDS (str): The cells and their outputs, as Markdown."""
    for cell in cells:
        yield cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                yield f"```text\n{output.text.rstrip()}\n```"
            else:
                yield re.sub(r"\n\s*\n", "\n", output.data["text/html"])


def run(notebook: Any) -> List[List[Dict[str, Any]]]:
    """Run a notebook in an empty folder.

    RETURNS (List[List[Dict[str, Any]]]): The outputs of each cell: printed text or HTML. Raises ValueError for output
        on stderr, such as warnings.
    """
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.record_timing, client.coalesce_streams = False, True
        client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore:IProgress not found"})  # from tqdm, without widgets
    for cell in notebook.cells:
        outputs = [dict(output) for output in cell.get("outputs", ())]
        for output in outputs:
            if output["output_type"] == "stream" and output["name"] != "stdout":
                raise ValueError(f"a cell wrote to {output['name']}: {output['text']}")
            if output["output_type"] == "execute_result":
                output["data"] = {"text/html": output["data"]["text/html"]}
        shown.append(outputs)
    return shown


def alike(old: str, new: str) -> bool:
    """RETURNS (bool): Whether two outputs are the same, except for small differences in scores."""
    scores = zip(SCORE.findall(old), SCORE.findall(new))
    return SCORE.split(old) == SCORE.split(new) and all(abs(float(a) - float(b)) <= TOLERANCE for a, b in scores)


def main(path: Path, *, check: bool) -> None:
    notebook = nbformat.read(path, 4)
    before = [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]
    shown = run(notebook)
    if check:
        for number, (old, new) in enumerate(zip(before, shown), start=1):
            if not alike(*(json.dumps(each, sort_keys=True) for each in (old, new))):
                sys.exit(f"{path}: cell {number} shows\n{new}\nnot\n{old}\nRun docs/tools/notebook.py to save it.")
        return
    for cell, outputs in zip(notebook.cells, shown):
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [nbformat.from_dict(output) for output in outputs]
    notebook.metadata = METADATA
    nbformat.write(notebook, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), check="--check" in sys.argv[2:])
