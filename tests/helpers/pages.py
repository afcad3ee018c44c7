"""Runs the code on pages of the docs and checks that it prints what they say."""

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

from spacy.cli import app
from spacy.util import registry
from typer.testing import CliRunner

BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.S | re.M)
COMMAND = ["python", "-m", "spacy"]
CODE = ("python", "bash")


class Block(NamedTuple):
    """A fenced code block.

    language (str): Its language: "python", "bash", "text" (the output of the code before it), ...
    name (str): The file name after the language, if the block is a file.
    """

    language: str
    name: str
    body: str


def read_blocks(page: Path) -> List[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text("utf8"))]


def run_page(page: Path, *, languages: Tuple[str, ...] = CODE) -> None:
    """Run a page in the current folder: write its files, run its Python blocks in one namespace, and its commands,
    which must succeed. The output must equal the `text` block after the code; Python without one must print nothing.

    page (Path): The page.
    languages (Tuple[str, ...]): The languages to run.
    """
    namespace: Dict[str, Any] = {"__name__": "page"}
    blocks = [block for block in read_blocks(page) if block.name or block.language in (*languages, "text")]
    assert any(block.language in languages for block in blocks), f"{page} has no code"
    for block, following in zip(blocks, [*blocks[1:], None]):
        output = following is not None and following.language == "text" and not following.name
        shown = following.body if following is not None and output else None
        if block.name:
            Path(block.name).parent.mkdir(parents=True, exist_ok=True)
            Path(block.name).write_text(block.body, "utf8")
        elif block.language == "python":
            assert run_python(block.body, page.name, namespace) == (shown or "")
        elif block.language == "bash":
            printed = run_commands(block.body)
            assert shown is None or printed == shown


def run_python(code: str, name: str, namespace: Dict[str, Any]) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, name, "exec"), namespace)
    return output.getvalue()


def run_commands(text: str) -> str:
    """Run `python -m spacy ...` in this process. RETURNS: Its output, without colours."""
    registry.cli.get_all()  # spaCy has our commands after looking for plugins
    printed = ""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[:3] == COMMAND, f"only spaCy's commands can be run, not {line}"
            result = CliRunner().invoke(app, words[3:])
            assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
            printed += re.sub("\x1b.*?m", "", result.output)
    return printed
