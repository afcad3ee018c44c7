"""Converts docstrings in spaCy's style to Markdown for mkdocstrings: `name (type): text` lines become a list."""

import re
from typing import Any, List

import griffe

NAMES = r"\*{0,2}\w+(?:, \*{0,2}\w+)*"
ENTRY = re.compile(rf"({NAMES}) \((.+?)\): (.*)")


def to_markdown(text: str) -> str:
    """text (str): A docstring, its indentation removed.
    RETURNS (str): The same in Markdown.
    """
    lines: List[str] = []
    in_entry = False
    for line in text.splitlines():
        entry = ENTRY.fullmatch(line)
        if entry:
            names, kind, rest = entry.groups()
            if not in_entry:
                lines.append("")
            name = f"**{names.capitalize()}**" if names.isupper() else ", ".join(f"`{n}`" for n in names.split(", "))
            lines.append(f"- {name} (`{kind}`): {rest}")
        else:
            lines.append(f"  {line.strip()}" if in_entry and line.strip() else line)
        in_entry = bool(entry) or (in_entry and bool(line.strip()))
    return "\n".join(lines)


class SpacyDocstrings(griffe.Extension):
    """Converts the docstring of every loaded object."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)
