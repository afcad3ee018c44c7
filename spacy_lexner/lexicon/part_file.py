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
SMALL = 1 << 20  # bytes up to which a part is checked in full when opened; of a larger one only some pages
PAGE, N_PAGES = 1 << 12, 16


def write_part(path: Path, part: str, pieces: Iterable[bytes]) -> Dict[str, Any]:
    """Write a part to a folder. RETURNS (Dict[str, Any]): Its entry in the manifest."""
    temporary, digest = _write_temporary(path, pieces)
    name = f"{part}-{digest[:16]}{SUFFIXES[part]}"
    size = temporary.stat().st_size
    entry = {"file": name, "bytes": size, "sha256": digest}
    if size > SMALL:
        entry["sample"] = _sample(np.memmap(temporary, "u1", "r"))
    os.replace(temporary, path / name)
    return entry


def _write_temporary(path: Path, pieces: Iterable[bytes]) -> Tuple[Path, str]:
    """RETURNS (Tuple[Path, str]): A new file, flushed to the disk, and its SHA-256."""
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
    """Put a part into another folder as well, as a hard link if possible, else as a copy."""
    temporary = target.with_name(f".part-{uuid4().hex}")
    try:
        try:
            os.link(source, temporary)
        except OSError:  # another file system, or one without links
            shutil.copyfile(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # os.replace does nothing if both are already the same file


def map_part(path: Path, entry: Dict[str, Any], verify: bool) -> np.ndarray:
    """RETURNS (np.ndarray): The bytes of a part, memory-mapped, uint8[n]; checked in full if small or with `verify`,
    else by a sample of pages. Raises LexiconError, naming the file, if they differ from the manifest."""
    name = entry["file"]
    if not PART_NAME.fullmatch(name):
        raise LexiconError(f"{path}: {quote(name)}, in manifest.json, is not the name of a part.")
    file = path / name
    if file.resolve().parent != path.resolve():
        raise LexiconError(f"{file}: a link to a file outside the lexicon. Copy that file here if you trust it.")
    try:
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            if size != entry["bytes"]:
                raise LexiconError(
                    f"{file}: {size} bytes, expected {entry['bytes']}: truncated, or from another lexicon."
                )
            data = np.memmap(opened, "u1", "r") if size else np.zeros(0, "u1")
    except (FileNotFoundError, IsADirectoryError):
        fault = f"{file}: this part of the lexicon is missing. Copy the whole folder, or rebuild the lexicon."
        raise LexiconError(fault) from None
    sample = None if verify or size <= SMALL else entry.get("sample")  # older lexicons have none
    whole = hashlib.sha256(data.data).hexdigest() if verify or size <= SMALL else entry["sha256"]
    if whole != entry["sha256"] or (sample is not None and _sample(data) != sample):
        raise LexiconError(
            f"{file}: the SHA-256 differs from the manifest's: damaged, or from another lexicon. Copy the whole "
            "folder, or rebuild the lexicon."
        )
    return data.view(np.ndarray)


def _sample(data: np.ndarray) -> str:
    """The SHA-256 of N_PAGES pages, evenly spaced from the first to the last."""
    digest = hashlib.sha256()
    for begin in np.linspace(0, len(data) - PAGE, N_PAGES).astype(int).tolist():
        digest.update(data[begin : begin + PAGE].tobytes())
    return digest.hexdigest()


def remove_old_parts(path: Path, current: Iterable[str]) -> None:
    """Remove all parts except the current ones (file names)."""
    for file in path.iterdir():
        if PART_NAME.fullmatch(file.name) and file.name not in current:
            try:
                file.unlink()
            except OSError:
                continue  # a part that is still mapped on Windows: the next save removes it
