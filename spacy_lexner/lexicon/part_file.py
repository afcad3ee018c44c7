"""The parts of a lexicon's folder: files whose names contain the first digits of their SHA-256."""

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Any, Dict, Iterable, Tuple
from uuid import uuid4

import numpy as np

from .errors import LexiconError
from .limits import quote

SUFFIXES = {"words": ".txt", "index": ".safetensors", "trie": ".safetensors", "vectors": ".safetensors"}
PART_NAME = re.compile(r"(words|index|trie|vectors)-[0-9a-f]{16}\.(txt|safetensors)|\.part-.*")
SMALL = 1 << 20  # a part of this size is checked whenever it is opened, a larger one by some of its pages
PAGE, N_PAGES = 1 << 12, 16


def write_part(path: Path, part: str, pieces: Iterable[bytes]) -> Dict[str, Any]:
    """Write a part to a folder. RETURNS (Dict[str, Any]): Its entry in the manifest."""
    temporary, digest = write_temporary(path, pieces)
    name = f"{part}-{digest[:16]}{SUFFIXES[part]}"
    size = temporary.stat().st_size
    entry = {"file": name, "bytes": size, "sha256": digest}
    if size > SMALL:
        entry["sample"] = _sample(np.memmap(temporary, "u1", "r"))
    os.replace(temporary, path / name)
    return entry


def write_temporary(path: Path, pieces: Iterable[bytes]) -> Tuple[Path, str]:
    """RETURNS (Tuple[Path, str]): A new file that is safe on the disk, and its SHA-256."""
    temporary = path / f".part-{uuid4().hex}"
    digest = hashlib.sha256()
    try:
        with temporary.open("xb") as file:
            for piece in pieces:
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary, digest.hexdigest()


def link_part(source: Path, target: Path) -> None:
    """Make a part appear in another folder, without a copy where the system can."""
    temporary = target.with_name(f".part-{uuid4().hex}")
    try:
        try:
            os.link(source, temporary)
        except OSError:  # another file system, or one without links
            shutil.copyfile(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # a link onto itself is not moved by os.replace


def map_part(path: Path, entry: Dict[str, Any], verify: bool) -> np.ndarray:
    """RETURNS (np.ndarray): The bytes of a part, memory-mapped, uint8[n]; checked by SHA-256 if small or with `verify`,
    otherwise by some of its pages. Raises LexiconError, naming the file, if they are not what the manifest says."""
    name = entry["file"]
    if not PART_NAME.fullmatch(name):
        raise LexiconError(f"{path}: {quote(name)}, in manifest.json, is not the name of a part.")
    file = path / name
    if file.resolve().parent != path.resolve():
        raise LexiconError(f"{file}: a link to a file outside of the lexicon. Copy that file here if you trust it.")
    try:
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            if size != entry["bytes"]:
                raise LexiconError(
                    f"{file}: {size} bytes, {entry['bytes']} expected: cut short, or of another lexicon."
                )
            data = np.memmap(opened, "u1", "r") if size else np.zeros(0, "u1")
    except (FileNotFoundError, IsADirectoryError):
        fault = f"{file}: this part of the lexicon is missing. Copy the whole folder, or build it again."
        raise LexiconError(fault) from None
    sample = None if verify or size <= SMALL else entry.get("sample")  # older lexicons have none
    whole = hashlib.sha256(data.data).hexdigest() if verify or size <= SMALL else entry["sha256"]
    if whole != entry["sha256"] or (sample is not None and _sample(data) != sample):
        raise LexiconError(
            f"{file}: the SHA-256 differs from the manifest's: damaged, or of another lexicon. Copy the whole folder, "
            "or build it again."
        )
    return data.view(np.ndarray)


def _sample(data: np.ndarray) -> str:
    """The SHA-256 of pages all over a part, the first and the last among them."""
    digest = hashlib.sha256()
    for begin in np.linspace(0, len(data) - PAGE, N_PAGES).astype(int).tolist():
        digest.update(data[begin : begin + PAGE].tobytes())
    return digest.hexdigest()


def remove_old_parts(path: Path, current: Iterable[str]) -> None:
    """Remove all parts but the current ones, by file name."""
    for file in path.iterdir():
        if PART_NAME.fullmatch(file.name) and file.name not in current:
            try:
                file.unlink()
            except OSError:
                continue  # a part that is still mapped on Windows: the next save removes it
