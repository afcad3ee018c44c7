"""The README's Python runs, and prints what the README says it prints."""

import io
import re
from contextlib import redirect_stdout
from importlib import metadata
from pathlib import Path

import pytest
from thinc.api import Config

README = (Path(__file__).parents[1] / "README.md").read_text("utf8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)


def blocks(language):
    return [body for name, body in BLOCK.findall(README) if name == language]


def test_python_prints_what_is_shown():
    shown = blocks("text")
    namespace = {"__name__": "readme"}
    printed = []
    for code in blocks("python"):
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(code, "README.md", "exec"), namespace)
        if output.getvalue():
            printed.append(output.getvalue())
    assert printed == shown


@pytest.mark.parametrize("block", blocks("ini"))
def test_configs_parse(block):
    assert Config().from_str(block, interpolate=False)


def test_every_registered_name_is_in_the_table():
    points = metadata.distribution("spacy-lexner").entry_points
    names = {
        point.name for point in points if point.name.startswith("spacy-lexner.") or point.group == "spacy_factories"
    }
    assert {name for name in names if f"`{name}`" not in README} == set()
