"""A lexicon in a folder, memory-mapped when opened, and a lexicon in a string of bytes.

The folder holds `manifest.json` and the parts, whose names contain the first digits of their SHA-256. A save writes the
new parts next to the old ones and then replaces the manifest: if it is interrupted, the folder holds the old lexicon or
the new one. Maps of the old parts stay valid on systems that allow removing a mapped file. Writers lock the folder
(`writing`), so parts that the manifest does not name are leftovers of an interrupted save.
"""

import json
from pathlib import Path
from typing import Any, Dict, Iterable, NamedTuple, Tuple

import numpy as np

from .array_file import read_arrays, write_arrays
from .build import BuildReport
from .checksum import checksum_of
from .errors import LexiconError
from .level import Level
from .limits import quote
from .packing import FORMAT, PartsT, check_places, pack, parse_manifest, unpack
from .part_file import link_part, map_part, remove_old_parts, write_part
from .writing import sync_folder, whole_file

MANIFEST = "manifest.json"
MAX_MANIFEST = 1 << 20


class Home(NamedTuple):
    """The folder that a lexicon is mapped from, and the checksum of its manifest at that time."""

    path: Path
    checksum: str

    def unchanged(self) -> bool:
        """Whether the folder still holds that lexicon."""
        try:
            return read_manifest(self.path)["checksum"] == self.checksum
        except LexiconError:
            return False

    def require_present(self, path: Path) -> None:
        """Raise LexiconError if `path` is this folder and another lexicon has been saved to it since."""
        if path.resolve() != self.path:
            return
        try:
            checksum = read_manifest(path)["checksum"]
        except LexiconError:  # there is no lexicon to lose
            return
        if checksum != self.checksum:
            raise LexiconError(
                f"{path}: another lexicon was saved here since this one was opened, and would be lost. Open it again "
                "and repeat the change inside `with Lexicon.edit(path) as lexicon`, or save with overwrite=True."
            )

    def link(self, path: Path) -> bool:
        """Save the lexicon to another folder by linking its parts: training saves its best pipeline again and again,
        but writes a large lexicon only once. Returns False if that is impossible (another file system) or the lexicon
        was changed."""
        try:
            manifest = read_manifest(self.path)
            if manifest["checksum"] != self.checksum:
                return False
            if path.samefile(self.path):
                return True
            for entry in manifest["parts"].values():
                link_part(self.path / entry["file"], path / entry["file"])
        except (LexiconError, OSError):
            return False
        _commit(path, manifest)
        return True


def save_folder(level: Level, report: BuildReport, path: Path) -> Home:
    """Save a lexicon atomically to a folder that the caller has locked (`writing`)."""
    manifest, parts = pack(level, report)
    manifest["parts"] = {}
    for part, arrays in parts.items():
        if part == "words":
            pieces: Iterable[bytes] = (arrays["words"].tobytes(),)
        else:
            pieces = write_arrays(arrays, {"format": FORMAT, "part": part})
        manifest["parts"][part] = write_part(path, part, pieces)
    manifest["checksum"] = checksum_of(manifest)
    _commit(path, manifest)
    return Home(path.resolve(), manifest["checksum"])


def _commit(path: Path, manifest: Dict[str, Any]) -> None:
    """Replace the manifest, and with it the lexicon of the folder; then remove the old lexicon's parts."""
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    sync_folder(path)  # the parts must be on the disk before the manifest that names them
    with whole_file(path / MANIFEST) as file:
        file.write(text.encode("utf8"))
    remove_old_parts(path, {entry["file"] for entry in manifest["parts"].values()})


def open_folder(path: Path, verify: bool) -> Tuple[Level, BuildReport, Home]:
    """Open a lexicon, memory-mapped; sizes, shapes and types are checked first. Small parts are compared with their
    SHA-256 in full, large ones by a sample of pages, or in full with `verify`. Raises LexiconError, naming the file, if
    anything differs from what was saved."""
    while True:
        stamp, manifest = _stamp(path), read_manifest(path)
        try:
            return _open_parts(path, manifest, verify)
        except LexiconError:
            if _stamp(path) == stamp:
                raise  # otherwise another lexicon was saved in the meantime, and the parts of this one are gone


def _stamp(path: Path) -> Tuple[int, ...]:
    """A stamp that differs between any two saves, even of equal lexicons."""
    try:
        status = (path / MANIFEST).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns


def _open_parts(path: Path, manifest: Dict[str, Any], verify: bool) -> Tuple[Level, BuildReport, Home]:
    parts: PartsT = {}
    try:
        for part, entry in manifest["parts"].items():
            data = map_part(path, entry, verify)
            parts[part] = {"words": data} if part == "words" else read_arrays(data, str(path / entry["file"]))[0]
        level, report = unpack(manifest, parts)
        if verify:
            check_places(level)
    except LexiconError as error:
        raise LexiconError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise LexiconError(f"{path / MANIFEST}: the list of parts is invalid ({quote(error)}).") from None
    return level, report, Home(path.resolve(), manifest["checksum"])


def read_manifest(path: Path) -> Dict[str, Any]:
    """Read the manifest of a saved lexicon. Raises LexiconError if it is missing, was changed, is not a lexicon's, or
    has another format version."""
    file = path / MANIFEST
    if not file.is_file():
        raise LexiconError(f"{path}: no lexicon here: {MANIFEST} is missing. Give a folder written by Lexicon.save.")
    if file.stat().st_size > MAX_MANIFEST:
        raise LexiconError(f"{file}: not the manifest of a lexicon (it is too large).")
    return parse_manifest(file.read_bytes(), str(file))


def to_bytes(level: Level, report: BuildReport) -> bytes:
    """Write a lexicon in the safetensors format, with the manifest as metadata."""
    manifest, parts = pack(level, report)
    manifest["checksum"] = checksum_of(manifest)
    arrays = {f"{part}.{name}": array for part, named in parts.items() for name, array in named.items()}
    return b"".join(write_arrays(arrays, {"manifest": json.dumps(manifest, ensure_ascii=False)}))


def from_bytes(data: bytes) -> Tuple[Level, BuildReport]:
    """Read a lexicon written by `to_bytes`. Raises LexiconError for other bytes."""
    arrays, metadata = read_arrays(np.frombuffer(data, "u1"), "lexicon bytes")
    manifest = parse_manifest(metadata.get("manifest", ""), "lexicon bytes")
    parts: PartsT = {}
    for key, array in arrays.items():
        part, _, name = key.partition(".")
        parts.setdefault(part, {})[name] = array
    level, report = unpack(manifest, parts)
    return check_places(level), report
