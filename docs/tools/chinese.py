"""mkdocs hook: fills a Chinese page with the code blocks and API entries of its English page.

On a line of its own, `[代码](page.md)` stands for the next code block of page.md, `[条目](page.md)` for its API
entries. On GitHub, where hooks do not run, both are links to the English page.
"""

import re
from pathlib import Path
from typing import Any, List

CODE = re.compile(r"^```.*?^```$", re.S | re.M)
ENTRIES = re.compile(r"^:::.*\S", re.S | re.M)
PLACE = re.compile(r"^\[(代码|条目)\]\(([\w-]+\.md)\)$", re.M)


def on_page_markdown(markdown: str, *, page: Any, config: Any, **kwargs: Any) -> str:
    source = Path(config.docs_dir) / page.file.src_uri
    return complete(markdown, source) if source.name.endswith(".zh.md") else markdown


def complete(markdown: str, source: Path) -> str:
    """Insert code and entries at their placeholders.

    markdown (str): The Chinese page.
    source (Path): Its path, beside the English page.
    RETURNS (str): The page with its code. Raises ValueError if the placeholders do not match the English page.
    """
    english = source.with_name(source.name.replace(".zh.md", ".md"))
    text = english.read_text("utf8")
    blocks: List[str] = CODE.findall(text)
    wanted = PLACE.findall(markdown)
    if {name for _, name in wanted} - {english.name}:
        raise ValueError(f"{source}: a Chinese page may take code only from {english.name}")
    if (found := sum(kind == "代码" for kind, _ in wanted)) != len(blocks):
        raise ValueError(f"{source}: {found} code placeholders, but {english.name} has {len(blocks)} code blocks")
    entries = ENTRIES.search(CODE.sub("", text))
    following = iter(blocks)
    return PLACE.sub(lambda place: next(following) if place[1] == "代码" else entries[0] if entries else "", markdown)
