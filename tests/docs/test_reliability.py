"""The table of faults is complete, and the tests it names exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def rows(name):
    """RETURNS (List[List[str]]): The cells of each case's row."""
    lines = re.findall(r"^\| (\d+ \|.*) \|$", (ROOT / "docs" / name).read_text("utf8"), flags=re.M)
    return [line.split(" | ") for line in lines]


@pytest.mark.parametrize(("name", "without"), [("reliability.md", "no test yet"), ("reliability.zh.md", "尚无测试")])
def test_every_case_names_tests_that_exist_or_says_that_it_has_none(name, without):
    assert [int(number) for number, *_ in rows(name)] == list(range(1, 47))
    for number, _, _, cell in rows(name):
        tests = re.findall(r"`([\w/]+\.py)::(test_\w+)`", cell)
        assert tests or cell == without, number
        for path, test in tests:
            body = ast.parse((ROOT / path).read_text("utf8")).body
            assert test in {node.name for node in body if isinstance(node, ast.FunctionDef)}, (
                f"{number}: {path}::{test}"
            )


def test_both_pages_name_the_same_tests():
    named = [re.findall(r"`([\w/.]+::\w+)`", str(rows(name))) for name in ("reliability.md", "reliability.zh.md")]
    assert named[0] == named[1]
