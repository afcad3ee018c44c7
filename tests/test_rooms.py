"""The import table in docs/architecture.md, compared with the package's imports."""

import ast
import gc
import re
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

import pytest

import spacy_lexner

PACKAGE = Path(spacy_lexner.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"


def read_table(page: str) -> Tuple[Dict[str, Set[str]], Set[str]]:
    """page (str): The architecture page.
    RETURNS (Tuple[Dict[str, Set[str]], Set[str]]): For each room those that it may import, and the rooms without torch.
    """
    table = page.split("## Import table")[1].split("\n\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    rooms = {room: row for row in rows for room in re.findall(r"`([\w/]+)/`", row[0])}
    known = [room for room, row in rooms.items() if row[2] != "everything"]
    every = {"encoders": {room for room in known if room.startswith("encoders/")}}
    allowed = {
        room: {other for name in re.findall(r"`([\w/]+)/`", rooms[room][2]) for other in every.get(name, {name})}
        for room in known
    }
    return allowed, {room for room, row in rooms.items() if row[3] == "yes"}


# The longest prefix of a module's path is its room.
ALLOWED, WITHOUT_TORCH = read_table(PAGE.read_text("utf8"))


def room_of(module: str) -> str:
    """RETURNS (str): "encoders/flat" for "encoders.flat.layer", "" for modules in no room."""
    path = module.replace(".", "/")
    rooms = [room for room in (*ALLOWED, "cli") if path == room or path.startswith(f"{room}/")]
    return max(rooms, key=len, default="")


def parse(source: str) -> ast.Module:
    """Without the garbage collector: what it runs meanwhile can end `ast.parse` of CPython 3.11 in a SystemError
    ("AST constructor recursion depth mismatch")."""
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        gc.enable()


def imports_of(source: str, module: str) -> Iterator[str]:
    """YIELDS (str): The full names of what a module imports, at the top or later; names of this package without it."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("spacy_lexner.") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])]).removeprefix("spacy_lexner.")
            yield from (f"{base}.{alias.name}".strip(".") for alias in node.names)


def modules() -> List[Tuple[str, str]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found.append((name, path.read_text("utf8")))
    return found


def forbidden(sources: List[Tuple[str, str]]) -> List[str]:
    """RETURNS (List[str]): Every import that the table does not allow."""
    wrong = []
    for module, source in sources:
        room = room_of(module)
        for target in imports_of(source, module):
            other = room_of(target)
            if room in ALLOWED and other not in ("", room) and other not in ALLOWED[room]:
                wrong.append(f"{module} imports {target}: {room} may not import {other}")
            if room in WITHOUT_TORCH and target.split(".")[0] in ("torch", "transformers"):
                wrong.append(f"{module} imports {target}: {room} is free of it")
    return wrong


def test_imports_keep_to_the_table():
    assert forbidden(modules()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("encoders.flat.layer", "from ..lebert.model import LEBERT"),
        ("encoders.shared.windows", "from ..flat import vocab"),
        ("lexicon.trie", "from spacy_lexner.candidates.storage import Candidates"),
        ("pipeline.ner.lex_ner", "def f():\n    from ...tagging.crf import Problem"),
        ("candidates.policy", "import torch"),
        ("pipeline.explain", "from .ner.lex_ner import LexNER"),
        ("pipeline.ner.combine", "from ..matcher.lex_matcher import LexMatcher"),
        ("pipeline.segmenter.retokenize", "from ..ner.constraints import ENTITY"),
    ],
)
def test_a_wrong_import_is_found(module, source):
    assert len(forbidden([(module, source)])) == 1


def test_the_table_has_no_circles():
    finished: Set[str] = set()
    while len(finished) < len(ALLOWED):
        ready = {room for room, below in ALLOWED.items() if below <= finished} - finished
        assert ready, f"a circle among {sorted(set(ALLOWED) - finished)}"
        finished |= ready


def test_every_module_lies_in_a_room():
    assert {name for name, _ in modules() if not room_of(name)} == {"__init__", "about", "encoders.__init__"}


def test_no_folder_is_an_attic():
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        assert len(list(folder.glob("*.py"))) <= 32, folder
