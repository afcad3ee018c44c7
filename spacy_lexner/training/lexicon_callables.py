"""Callables `(nlp) -> Lexicon` that the registered lexicon readers return. They pickle, and nothing is read before they
are called. They are plain classes: the config system would turn a dataclass or a named tuple into a dict or a tuple.
"""

from pathlib import Path
from typing import Any, Callable, Dict

from spacy.language import Language

from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Dtype, Lexicon
from ..lexicon.normalization import Normalization
from ..lexicon.stream import EntryStream, MergedStream

ReaderT = Callable[[Language], Lexicon]


class BuildOptions:
    """How a lexicon is built; see `Lexicon.from_entries`."""

    def __init__(
        self, dtype: Dtype, normalise_case: bool, normalise_width: bool, max_word_length: int, strict: bool
    ) -> None:
        self.dtype = dtype
        self.normalization = Normalization(case=normalise_case, width=normalise_width)
        self.max_word_length = max_word_length
        self.strict = strict

    def build(self, entries: EntryStream, merge: bool = False) -> Lexicon:
        """RETURNS (Lexicon): The lexicon of these entries."""
        return Lexicon.from_entries(entries, merge=merge, **vars(self))


class LexiconReader:
    """Reads entries and builds a lexicon of them."""

    def __init__(self, read: Callable[[Language], EntryStream], options: BuildOptions) -> None:
        """Create a reader.

        read (Callable[[Language], EntryStream]): Opens the stream of entries.
        options (BuildOptions): How the lexicon is built.
        """
        self._read = read
        self._options = options

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries."""
        return self._read(nlp)

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon."""
        return self._options.build(self._read(nlp))


class FolderReader:
    """Opens a saved lexicon."""

    def __init__(self, path: Path, verify: bool) -> None:
        """Create a reader.

        path (Path): The folder.
        verify (bool): Whether to check the SHA-256 of its parts.
        """
        self._path = path
        self._verify = verify

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries."""
        return EntryStream(str(self._path), enumerate(self(nlp).entries(), 1))

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon, memory-mapped."""
        return Lexicon.open(self._path, verify=self._verify)


class MergedReader:
    """Builds one lexicon from the entries of several readers. The first of equal words wins; its vector is the first
    that any of them has."""

    def __init__(self, readers: Dict[str, Any], options: BuildOptions) -> None:
        """Create a reader.

        readers (Dict[str, Callable[[Language], Lexicon]]): The readers, by any name; they are read in this order.
        options (BuildOptions): How the lexicon is built; those of the readers themselves do not count.
        """
        self._readers = dict(readers)
        self._options = options

    def entries(self, nlp: Language) -> EntryStream:
        """RETURNS (EntryStream): The entries of all readers."""
        return MergedStream(_entries_of(name, reader, nlp) for name, reader in self._readers.items())

    def __call__(self, nlp: Language) -> Lexicon:
        """RETURNS (Lexicon): The lexicon."""
        return self._options.build(self.entries(nlp), merge=True)


def _entries_of(name: str, reader: Any, nlp: Language) -> EntryStream:
    if not callable(reader):
        raise LexiconError(
            f"'{name}' is no lexicon reader: {reader!r:.80}. Each block under `readers` names one (@readers)."
        )
    return reader.entries(nlp) if hasattr(reader, "entries") else EntryStream(name, enumerate(reader(nlp).entries(), 1))
