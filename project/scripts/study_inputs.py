"""What the result of a run depends on, so that a results file never mixes runs of different settings or data.

Settings are recorded as they are. Of data (corpora, lexicons, base configs, and all files and models named in
arguments) there are digests. Code is not recorded.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Mapping, Sequence, Tuple

from paths import CONFIGS, PROJECT, SPLITS
from spacy.util import load_config
from study_file import System
from study_results import Line, Run
from wasabi import msg

from spacy_lexner.lexicon.storage import MANIFEST
from spacy_lexner.training.digests import digest_path

# A folder named in an argument is data if it has one of these: a lexicon, a Hugging Face model, a pipeline.
MARKS = (MANIFEST, "config.json", "config.cfg")
REMEDY = "Rename this file or use another one, or remove these lines to do the runs again."


def describe(run: Run, systems: Mapping[str, System], overrides: Sequence[str], *, test: bool = True) -> Line:
    """Describe what a run depends on.

    run (Run): The run.
    systems (Mapping[str, System]): The systems of the study.
    overrides (Sequence[str]): More arguments for `spacy train`.
    test (bool): Whether it is evaluated on test.
    RETURNS (Line): `arguments`, the overrides; `settings`, those of the system; `inputs`, a digest of each file or
        folder; for an ensemble `members`, their descriptions.
    """
    system = systems[run.system].on(run.dataset)
    paths = [PROJECT / "corpus" / run.dataset / f"{split}.spacy" for split in (SPLITS if test else SPLITS[:-1])]
    if system.config:
        paths.append(CONFIGS / f"{system.config}.cfg")
    if system.lexicon is not None:
        paths.append(PROJECT / system.lexicon)
    paths += named_paths([*system.arguments, *overrides])
    line = {"arguments": list(overrides), "settings": system.settings(), "inputs": digests(paths)}
    if system.members:
        members = [run._replace(system=name) for name in system.members]
        line["members"] = {each.system: describe(each, systems, overrides, test=False) for each in members}
    return line


def changes(before: Line, now: Line) -> Iterator[str]:
    """Compare what a run depended on with what it would depend on now.

    before (Line): The run's line. Those of older versions lack most of the description, which then counts as unchanged.
        Environment variables in it are expanded.
    now (Line): The run's description.
    YIELDS (str): What is different.
    """
    for key in (key for key in now if key in before):
        old, new = before[key], now[key]
        if isinstance(old, dict) and isinstance(new, dict):
            yield from (f"{key} → {change}" for change in changes(old, new))
        elif os.path.expandvars(json.dumps(old)) != os.path.expandvars(json.dumps(new)):
            yield f"{key}: {json.dumps(old, ensure_ascii=False)}, now {json.dumps(new, ensure_ascii=False)}"


def refuse_changes(path: Path, lines: Mapping[Run, Line], now: Mapping[Run, Line]) -> None:
    """Exit with a message that says what changed, if a results file has runs of other settings or data.

    path (Path): The results file.
    lines (Mapping[Run, Line]): Its lines.
    now (Mapping[Run, Line]): The descriptions of the runs to do, or done. Those of other lines may have other settings,
        but not other data by the same name: a table would compare them.
    """
    shared = {name: value for description in now.values() for name, value in description["inputs"].items()}
    found: Dict[str, List[str]] = {}
    for run, line in lines.items():
        for change in changes(line, now.get(run, {"inputs": shared})):
            found.setdefault(change, []).append(run.name)
    for change, names in found.items():
        msg.warn(f"{change} (runs: {len(names)}, the first is {names[0]})")
    if found:
        msg.fail(f"{path} has runs of other settings or data", REMEDY, exits=1)


def named_paths(arguments: Sequence[str]) -> Iterator[Path]:
    """YIELDS (Path): The data named in arguments like `--a b`, `--a=b` and `--a={"path":"b"}`."""
    for argument in arguments:
        names = [argument, argument.partition("=")[2], *re.findall(r'"([^"]+)"', argument)]
        for name in filter(None, names):
            is_file = os.path.isfile(name) and not name.endswith(".py")
            if is_file or any(os.path.isfile(os.path.join(name, mark)) for mark in MARKS):
                yield Path(name)


def digests(paths: Iterable[Path]) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The digests of those paths that exist, by name; in the repository, relative to its
    root."""
    root = PROJECT.parent
    return {
        str(path.relative_to(root) if path.is_relative_to(root) else path): digest(path)
        for path in paths
        if path.exists()
    }


def digest(path: Path) -> str:
    """RETURNS (str): The digest of a lexicon, a file, or a folder. A file is read again only if it has changed."""
    files = [file for file in sorted(path.rglob("*")) if file.exists()] if path.is_dir() else [path]
    stamps = [(status.st_ino, status.st_size, status.st_mtime_ns) for status in map(os.stat, files)]
    return read_digest(path.absolute(), *stamps)


@cache
def read_digest(path: Path, *stamps: Tuple[int, ...]) -> str:
    if path.suffix == ".cfg":  # a base config: its comments change nothing
        return blake2b(load_config(path).to_str().encode("utf8"), digest_size=16).hexdigest()
    return digest_path(path)
