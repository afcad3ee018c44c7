"""The results file of a study: a JSON line per run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from wasabi import msg

from spacy_lexner.lexicon.writing import whole_file

Line = Dict[str, Any]


class Run(NamedTuple):
    """One run of the study."""

    dataset: str
    system: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.system}-{self.seed}"


def read_results(path: Path) -> Dict[Run, Line]:
    """Read a results file. If its last line is cut off (the process was killed, or the disk was full), it is left out
    with a warning.

    path (Path): The file, which need not exist yet.
    RETURNS (Dict[Run, Line]): Its lines, by run; the last one of a run counts. Exits with a message if a line is
        damaged that is not the last.
    """
    lines = parse(path, read(path))
    if lines and lines[-1][1] is None:
        msg.warn(f"{path}: the last line is cut off and left out", "Its run counts as missing.")
    return {run_of(line): line for _, line in lines if line is not None}


def add_line(path: Path, line: Line) -> None:
    """Add the line of a run, in place of earlier ones of that run and of a last line that is cut off. Otherwise the
    file is only appended to, so that several processes can write to it.

    path (Path): The file.
    line (Line): The line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    old = read(path)
    kept = [text for text, other in parse(path, old) if other is not None and run_of(other) != run_of(line)]
    head, new = (b"".join(text + b"\n" for text in texts) for texts in (kept, [to_json(line)]))
    if head == old:
        with path.open("ab", buffering=len(new) + 1) as file:  # one write
            file.write(new)
        return
    with whole_file(path) as file:
        file.write(head + new)


def is_missing(line: Optional[Line], dev_only: bool) -> bool:
    """RETURNS (bool): Whether a run is to be done: it has no line, or one without scores on test that are wanted."""
    return line is None or not (dev_only or line.get("test"))


def run_of(line: Line) -> Run:
    return Run(line["dataset"], line["system"], line["seed"])


def to_json(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode("utf8")


def read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def parse(path: Path, content: bytes) -> List[Tuple[bytes, Optional[Line]]]:
    """RETURNS (List[Tuple[bytes, Optional[Line]]]): The lines of a file, as written and parsed; None if the last one is
    cut off. Exits with a message if another one is damaged."""
    lines: List[Tuple[bytes, Optional[Line]]] = []
    texts = content.rstrip().splitlines()
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            lines.append((text, json.loads(text)))
        except ValueError as error:
            if number < len(texts):
                msg.fail(f"{path}, line {number} is not JSON: {error}", "Correct or remove that line.", exits=1)
            lines.append((text, None))
    return lines
