"""Checksums of a folder: `seal.json` lists its files with their sizes and SHA-256, and a checksum of itself.

A component of ours seals its settings together with its weights, so that neither can be exchanged alone. The seal of a
pipeline lists the files that spaCy writes, and the seals of our components instead of their files. A saved lexicon
needs no seal: its manifest has the SHA-256 of each part.
"""

import hashlib
import json
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Union

from ..lexicon.checksum import checksum_of

SEAL = "seal.json"
# The files of components that seal themselves, by factory. The lexicon of a lex_matcher has checksums of its own.
SEALED = {"lex_matcher": ("cfg", "rules"), "lex_ner": ("cfg", "model"), "lex_segmenter": ("cfg", "model")}
FORMAT, FORMAT_VERSION = "spacy-lexner.seal", 1
MAX_SEAL = 1 << 24
LARGE = 1 << 20  # bytes; files of at least this size are checked in a thread while their contents are used
MAGIC = b"spacy-lexner.sealed.v1\0"
REMEDY = (
    "Restore the folder from a copy, or train again. If the change is intended, `python -m spacy lexner seal MODEL` "
    "accepts the files as they are."
)


class SealError(ValueError):
    """A saved file is missing, damaged, exchanged or outside of its folder."""


class SealWarning(UserWarning):
    """A folder has no seal, so nothing can be checked."""


def write_seal(folder: Path, names: Iterable[str]) -> None:
    """Seal files of a folder.

    folder (Path): The folder.
    names (Iterable[str]): The files, relative to it, with "/".
    """
    files = {name: describe((folder / name).read_bytes()) for name in sorted(names)}
    seal: Dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION, "files": files}
    seal["checksum"] = checksum_of(seal)
    (folder / SEAL).write_text(json.dumps(seal, ensure_ascii=False, indent=1) + "\n", "utf8")


def read_seal(folder: Path) -> Optional[Dict[str, Dict[str, Any]]]:
    """RETURNS (Optional[Dict[str, Dict[str, Any]]]): The size ("bytes") and "sha256" of each sealed file; None if the
    folder has no seal. Raises SealError if the seal itself is damaged."""
    path = folder / SEAL
    if not path.is_file():
        return None
    check_inside(folder, SEAL)
    try:
        if path.stat().st_size > MAX_SEAL:
            raise ValueError("it is too large")
        seal = json.loads(path.read_bytes())
        if (seal["format"], seal["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"it has the format {seal['format']!r:.80}, version {seal['format_version']!r:.80}")
        if seal["checksum"] != checksum_of(seal):
            raise ValueError("it was changed after sealing")
        return seal["files"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SealError(f"{path}: not a seal, or damaged ({error}). {REMEDY}") from None


def find_difference(path: Path, entry: Optional[Dict[str, Any]], data: bytes) -> Optional[str]:
    """RETURNS (Optional[str]): How the contents of a file differ from its entry in a seal; None if they do not."""
    if entry is None:
        return f"{path}: the folder's {SEAL} does not list this file. {REMEDY}"
    if len(data) != entry["bytes"]:
        return f"{path}: {len(data)} bytes, {entry['bytes']} expected: truncated, or from another training. {REMEDY}"
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        return f"{path}: its SHA-256 is not that in {SEAL}: damaged, edited, or from another training. {REMEDY}"
    return None


def check_inside(folder: Path, name: str) -> Path:
    """RETURNS (Path): A file of a folder. Raises SealError if a link leads out of it."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SealError(
            f"{path}: a link to a file outside of the folder, {str(path.resolve())!r:.80}. If you trust that file, "
            "copy it here."
        )
    return path


class SealedFolder:
    """A saved component while it is loaded: reads its files and checks them against the seal.

    Large files are checked in a thread while they are parsed. On leaving the context, a file that differs raises
    SealError, which supersedes any other error. Without a seal there is a warning.
    """

    def __init__(self, folder: Union[str, Path]) -> None:
        self.folder = Path(folder)
        self._entries: Optional[Dict[str, Dict[str, Any]]] = None
        self._running: List[Future[Optional[str]]] = []

    def __enter__(self) -> "SealedFolder":
        if not self.folder.is_dir():
            raise SealError(
                f"{self.folder}: there is no such folder. If {self.folder.name!r} was left out when the pipeline was "
                f"saved, leave it out here too: exclude=[{self.folder.name!r}]. Otherwise restore it from a copy."
            )
        self._entries = read_seal(self.folder)
        if self._entries is None:
            warnings.warn(
                f"{self.folder} was saved without checksums, so damage goes unnoticed. If you trust it, add them: "
                "python -m spacy lexner seal MODEL",
                SealWarning,
                stacklevel=4,
            )
        self._threads = ThreadPoolExecutor(1)
        return self

    def read(self, name: str) -> bytes:
        """RETURNS (bytes): A file's contents. Raises SealError if it is missing or differs; for a large file, possibly
        only when leaving the context."""
        path = check_inside(self.folder, name)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise SealError(f"{path}: the file cannot be read ({error.strerror}). {REMEDY}") from None
        if self._entries is not None:
            entry = self._entries.get(name)
            if len(data) < LARGE:
                _raise(find_difference(path, entry, data))
            else:
                self._running.append(self._threads.submit(find_difference, path, entry, data))
        return data

    def check(self, name: str) -> Path:
        """RETURNS (Path): The path of a small file, checked as by `read`."""
        self.read(name)
        return self.folder / name

    def has(self, name: str) -> bool:
        """RETURNS (bool): Whether the folder has a file, or its seal says that it should."""
        return name in (self._entries or ()) or (self.folder / name).exists()

    def __exit__(self, *error: Any) -> None:
        self._threads.shutdown()
        for future in self._running:
            _raise(future.result())


def seal_bytes(data: bytes) -> bytes:
    """RETURNS (bytes): The data, preceded by their SHA-256."""
    return MAGIC + hashlib.sha256(data).digest() + data


def unseal_bytes(sealed: bytes, name: str) -> bytes:
    """RETURNS (bytes): The data of `seal_bytes`. Raises SealError if they differ; `name` says whose they are."""
    head = len(MAGIC) + hashlib.sha256().digest_size
    data = sealed[head:]
    if sealed[:head] != MAGIC + hashlib.sha256(data).digest():
        raise SealError(f"{name}: these are not the bytes that to_bytes returned, or are damaged. Create them again.")
    return data


def describe(data: bytes) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The entry of a file in a seal."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _raise(difference: Optional[str]) -> None:
    if difference is not None:
        raise SealError(difference)
