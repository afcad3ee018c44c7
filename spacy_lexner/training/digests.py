"""Digests of what a training run reads in addition to its config: annotated Docs, files, folders and lexicons."""

import os
from hashlib import blake2b
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, Optional

from spacy.attrs import (
    DEP,
    ENT_ID,
    ENT_IOB,
    ENT_KB_ID,
    ENT_TYPE,
    HEAD,
    LEMMA,
    MORPH,
    ORTH,
    POS,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.tokens import Doc
from thinc.api import Config

from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon

ANNOTATION = [ORTH, SPACY, LEMMA, TAG, POS, MORPH, HEAD, DEP, SENT_START, ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID]
CHUNK = 1 << 20  # bytes read at a time


class DocDigest:
    """A digest of a stream of Docs, in their order."""

    def __init__(self, entities_only: bool = False) -> None:
        """entities_only (bool): Leave out all annotation except entities, as the first checkpoints did."""
        self._content = blake2b(digest_size=16)
        self._add = self._add_entities if entities_only else self._add_annotation

    def update(self, docs: Iterable[Doc]) -> "DocDigest":
        """RETURNS (DocDigest): This digest, with more Docs."""
        for doc in docs:
            self._add(doc)
        return self

    def hexdigest(self) -> str:
        """RETURNS (str): The digest of the Docs so far, the same in every process."""
        return self._content.hexdigest()

    def _add_annotation(self, doc: Doc) -> None:
        """Words, spaces, attributes of tokens, categories and span groups. User data and tensors are no annotation."""
        shape = (len(doc), doc.has_unknown_spaces, sorted(doc.cats.items()))
        self._content.update(repr(shape).encode("utf8", "surrogatepass"))
        self._content.update(doc.to_array(ANNOTATION).tobytes())
        self._content.update(doc.spans.to_bytes())

    def _add_entities(self, doc: Doc) -> None:
        self._content.update(doc.text.encode("utf8", "surrogatepass"))
        self._content.update(doc.to_array([ENT_IOB, ENT_TYPE]).tobytes())


def digest_files(config: Config) -> Dict[str, str]:
    """Digest the files and folders that `[initialize]` names, and those that other sections take from `[paths]`.
    Corpora are not among them: their texts count, not their files.

    RETURNS (Dict[str, str]): The digest of each that exists, by its name in the config.
    """
    sections = config.interpolate()
    used = {value for name in sections.keys() - {"paths", "corpora"} for value in _strings(sections[name])}
    named = {*_strings(sections.get("initialize")), *(used & {*_strings(sections.get("paths"))})}
    return {name: digest_path(Path(name)) for name in sorted(named) if os.path.exists(name)}


def digest_path(path: Path) -> str:
    """RETURNS (str): The version of the lexicon in a folder; otherwise a digest of a file, or of all files in a folder,
    hidden ones aside."""
    if path.is_dir() and (version := _lexicon_version(path)) is not None:
        return version
    content = blake2b(digest_size=16)
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        name = file.relative_to(path)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            content.update(f"{name.as_posix()} {file.stat().st_size}\n".encode("utf8", "surrogateescape"))
            with file.open("rb") as opened:
                while chunk := opened.read(CHUNK):
                    content.update(chunk)
    return content.hexdigest()


def _lexicon_version(folder: Path) -> Optional[str]:
    try:
        return f"{Lexicon.open(folder).version:016x}"
    except LexiconError:
        return None


def _strings(value: Any) -> Iterator[str]:
    """YIELDS (str): Every text in a section of a config, except for the names of registered functions."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("@"):
                yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)
