"""The page's Python runs, and prints what the page says it prints."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "segmenter.md").read_text("utf8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)


def test_python_prints_what_is_shown():
    blocks = BLOCK.findall(PAGE)
    namespace = {"__name__": "page"}
    printed = []
    for code in [body for language, body in blocks if language == "python"]:
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(code, "segmenter.md", "exec"), namespace)
        printed.append(output.getvalue())
    assert printed == [body for language, body in blocks if language == "text"]
