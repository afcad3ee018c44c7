"""The templates of the demo corpus: a small grammar of choices, fillers and entity slots."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

LABELS = ("PER", "ORG", "LOC", "GPE")
# What fills a slot without kinds. Nicknames are for social media only, and have to be asked for.
DEFAULT_KINDS = {
    "PER": ("full", "full", "full", "word"),
    "GPE": ("city", "city0", "county", "prov"),
}
PART = re.compile(r"\[([^\]]*)\]|\{([A-Z]{3})(?:([:=])([^}]+))?\}|\{([a-z]+)\}")

Span = Tuple[int, int, str]
# (label, kinds) -> text of a name
Pick = Callable[[str, Sequence[str]], str]


class Template(NamedTuple):
    """One line of a template file."""

    text: str
    register: str
    held_out: bool

    @property
    def literals(self) -> List[Tuple[str, str]]:
        """Entities spelled out in the template itself, as (text, label)."""
        return [(slot[4], slot[2]) for slot in _slots(self.text) if slot[3] == "="]


class Sentence(NamedTuple):
    """A text with its entities: character offsets, end exclusive."""

    text: str
    spans: List[Span]

    def tags(self) -> List[str]:
        """One BIOES tag per character."""
        tags = ["O"] * len(self.text)
        for start, end, label in self.spans:
            tags[start:end] = [f"I-{label}"] * (end - start)
            tags[start], tags[end - 1] = f"B-{label}", f"E-{label}"
            if end - start == 1:
                tags[start] = f"S-{label}"
        return tags


def read_templates(folder: Path) -> List[Template]:
    """Read the template files of a folder; a file's name is its register.

    folder (Path): Folder with one `.txt` file per register.
    RETURNS (List[Template]): The templates, by file and line.
    """
    templates = []
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text("utf8").split("\n"), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            template = Template(line.lstrip("*"), path.stem, line.startswith("*"))
            _check(template, f"{path.name}, line {number}")
            templates.append(template)
    return templates


def fill(template: Template, fillers: Dict[str, List[str]], pick: Pick, rng: Random) -> Sentence:
    """Fill a template: choices first, then fillers and slots from left to right.

    template (Template): The template.
    fillers (Dict[str, List[str]]): Texts for each lower-case slot; they may contain lower-case slots themselves.
    pick (Pick): Returns a name for a label and its kinds.
    rng (Random): Source of randomness.
    RETURNS (Sentence): The text and its entities.
    """
    pieces: List[str] = []
    spans: List[Span] = []
    length = 0

    def emit(text: str, label: Optional[str] = None) -> None:
        nonlocal length
        if label:
            spans.append((length, length + len(text), label))
        pieces.append(text)
        length += len(text)

    def walk(source: str) -> None:
        done = 0
        for match in PART.finditer(source):
            emit(source[done : match.start()])
            done = match.end()
            choices, label, relation, argument, filler = match.groups()
            if choices is not None:
                walk(rng.choice(choices.split("|")))
            elif filler is not None:
                walk(rng.choice(fillers[filler]))
            elif relation == "=":
                emit(argument, label)
            else:
                emit(pick(label, argument.split("|") if argument else DEFAULT_KINDS.get(label, ())), label)
        emit(source[done:])

    walk(template.text)
    return Sentence("".join(pieces), spans)


def _slots(source: str) -> Iterator[re.Match[str]]:
    """All slots of a template, including those in choices."""
    for match in PART.finditer(source):
        if match[1] is None:
            yield match
        else:
            for choice in match[1].split("|"):
                yield from _slots(choice)


def _check(template: Template, where: str) -> None:
    choices = [choice for match in PART.finditer(template.text) for choice in (match[1] or "").split("|")]
    if any(set(PART.sub("", source)) & set("[]{}|") for source in (template.text, *choices)):
        raise ValueError(f"demo/templates/{where}: unbalanced brackets in {template.text!r}")
    unknown = [slot[2] for slot in _slots(template.text) if slot[2] and slot[2] not in LABELS]
    if unknown:
        raise ValueError(f"demo/templates/{where}: unknown label {unknown[0]!r}; known are {', '.join(LABELS)}")
