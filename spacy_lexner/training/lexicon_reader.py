"""Callables `(nlp) -> Lexicon` that the registered lexicon readers return. They pickle, and nothing is read before they
are called.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict

from spacy.language import Language

from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Dtype, Lexicon
from ..lexicon.normalization import Normalization
from ..lexicon.stream import EntryStream, MergedStream

ReaderT = Callable[[Language], Lexicon]


@dataclass(frozen=True)
class BuildOptions:
    """How a lexicon is built; see `Lexicon.from_entries`."""

    dtype: Dtype = "float32"
    normalise_case: bool = False
    normalise_width: bool = False
    max_word_length: int = 64
    strict: bool = False

    def build(self, entries: EntryStream, merge: bool = False) -> Lexicon:
        """RETURNS (Lexicon): The lexicon of these entries."""
        return Lexicon.from_entries(
            entries,
            dtype=self.dtype,
            normalization=Normalization(case=self.normalise_case, width=self.normalise_width),
            max_word_length=self.max_word_length,
            strict=self.strict,
            merge=merge,
        )


@dataclass(frozen=True)
class LexiconReader:
    """Reads entries and builds a lexicon of them.

    read (Callable[[Language], EntryStream]): Opens the stream of entries.
    options (BuildOptions): How the lexicon is built.
    """

    read: Callable[[Language], EntryStream]
    options: BuildOptions

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries."""
        return self.read(nlp)

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon."""
        return self.options.build(self.read(nlp))


@dataclass(frozen=True)
class FolderReader:
    """Opens a saved lexicon.

    path (Path): The folder.
    verify (bool): Whether to check the SHA-256 of its parts.
    """

    path: Path
    verify: bool

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries."""
        return EntryStream(str(self.path), enumerate(self(nlp).entries(), 1))

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon, memory-mapped."""
        return Lexicon.open(self.path, verify=self.verify)


@dataclass(frozen=True)
class MergedReader:
    """Builds one lexicon from the entries of several readers. The first of equal words wins; its vector is the first
    that any of them has.

    readers (Dict[str, ReaderT]): The readers, by any name; they are read in this order.
    options (BuildOptions): How the lexicon is built; those of the readers themselves do not count.
    """

    readers: Dict[str, ReaderT]
    options: BuildOptions

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries of all readers."""
        return MergedStream(_entries_of(name, reader, nlp) for name, reader in self.readers.items())

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon."""
        return self.options.build(self.entries(nlp), merge=True)


def _entries_of(name: str, reader: Any, nlp: Language) -> EntryStream:
    if not callable(reader):
        raise LexiconError(
            f"'{name}' is no lexicon reader: {reader!r:.80}. Each block under `readers` names one (@readers)."
        )
    return reader.entries(nlp) if hasattr(reader, "entries") else EntryStream(name, enumerate(reader(nlp).entries(), 1))
