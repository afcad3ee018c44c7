"""The lexicon: words, and what is known about them."""

from hashlib import blake2b
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from .base import LexiconBase, compile_base
from .build import Dtype, build_table
from .columns import distinct_rules, ruled_words, rules_of, vectors_of
from .entry import LexiconEntry
from .errors import LexiconError
from .find_words import Candidates, find_words, join_texts
from .hashing import hash_word
from .levels import Levels
from .normalization import Normalization, to_codes
from .report import BuildReport
from .rules import Rules
from .storage import from_bytes, link_folder, open_folder, read_manifest, save_folder, to_bytes
from .table import Table


class Lexicon:
    """Words, each with a vector, weight, label and entity id if it has one. Immutable and safe to read from several
    threads; `with_words` and `without_words` give a new lexicon that shares everything with this one but the changes.

    report (BuildReport): What was skipped when it was built, and why.
    normalization (Normalization): How words and texts are compared.
    dim (int): Width of the vectors; 0 if there are none.
    version (int): 64 bits from the content: equal for two lexicons with the same entries, vector type and
        normalisation, in whatever order and however they came to be.
    """

    def __init__(self, base: LexiconBase, report: BuildReport, levels: Optional[Levels] = None) -> None:
        self._base = base
        self._levels = Levels.of(base) if levels is None else levels
        self._home: Optional[Tuple[Path, str]] = None  # the folder it is mapped from, and the checksum of its manifest
        self.report = report
        self.normalization = base.normalization
        self.dim = self._levels.dim
        state = f"{self._levels.content} {base.table.vectors.dtype} {tuple(self.normalization)}"
        self.version = int.from_bytes(blake2b(state.encode("utf8"), digest_size=8).digest(), "little")

    @classmethod
    def from_entries(
        cls,
        entries: Iterable[LexiconEntry],
        *,
        dtype: Dtype = "float32",
        normalization: Optional[Normalization] = None,
        max_word_length: int = 64,
        strict: bool = False,
        merge: bool = False,
    ) -> "Lexicon":
        """Build a lexicon from a stream, which is never held in memory as a whole. The first of equal words wins.

        entries (Iterable[LexiconEntry]): The entries. Where they come from a reader, messages name its file and line.
        dtype (str): "float32" or "float16", how vectors are stored.
        normalization (Optional[Normalization]): Of case and width, applied to the words, and to texts when matching.
        max_word_length (int): Longer words are skipped.
        strict (bool): Raise LexiconError for an entry that would be skipped.
        merge (bool): Equal words are expected: a word without a vector takes that of the first equal word that has one.
        RETURNS (Lexicon): The lexicon; its `report` says what was skipped.
        """
        normalization = Normalization() if normalization is None else normalization
        table, report = build_table(
            entries,
            dtype=dtype,
            normalization=normalization,
            max_word_length=max_word_length,
            strict=strict,
            merge=merge,
        )
        return cls(compile_base(table, normalization, max_word_length), report)

    # Words

    def hash(self, word: str) -> int:
        """RETURNS (int): The hash of a word, normalised as this lexicon does."""
        return hash_word(self.normalization(word))

    def get(self, word: str) -> Optional[LexiconEntry]:
        """Look a word up.

        word (str): The word.
        RETURNS (Optional[LexiconEntry]): What is known about it; None if it is not in the lexicon.
        """
        return self._levels.get(self.normalization(word))

    def __len__(self) -> int:
        return self._levels.size

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        return bool(self.rows(np.array([self.hash(word)], "u8"))[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        for level in self._levels.levels:
            words = level.base.table.words
            if len(level.hidden):
                yield from map(words.get, level.rows.tolist())
            else:
                yield from words.all()

    def entries(self) -> Iterator[LexiconEntry]:
        """YIELDS (LexiconEntry): All entries, in the order of the words."""
        for level in self._levels.levels:
            yield from map(level.base.table.entry, level.rows.tolist())

    @property
    def max_word_length(self) -> int:
        """RETURNS (int): The limit that its words are held to."""
        return self._base.max_word_length

    @property
    def content(self) -> int:
        """RETURNS (int): The sum of the hashes of what is known about each word, modulo 2**64."""
        return self._levels.content

    @property
    def table(self) -> Table:
        """RETURNS (Table): What is known about all words, as columns, with all changes worked in."""
        return self.compact()._base.full_table()

    def rows(self, hashes: np.ndarray) -> np.ndarray:
        """Number words.

        hashes (numpy.ndarray): uint64[n], hashes of words.
        RETURNS (numpy.ndarray): int64[n], a different number for each word of this lexicon, -1 where unknown.
        """
        return self._levels.rows(np.asarray(hashes, "u8"))

    def vectors(self, hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Look vectors up.

        hashes (numpy.ndarray): uint64[n], hashes of words.
        RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): float32[n, dim], a row of zeros where a word has no vector;
            bool[n], which words have one.
        """
        return vectors_of(self._levels, self.rows(hashes))

    def rules(self, hashes: np.ndarray) -> Dict[int, Rules]:
        """Look rules up.

        hashes (numpy.ndarray): uint64[n], hashes of words.
        RETURNS (Dict[int, Tuple[Rule, ...]]): The positions of those words that have rules, and these.
        """
        return rules_of(self._levels, self.rows(hashes)) if self.has_rules else {}

    @property
    def has_rules(self) -> bool:
        """RETURNS (bool): Whether words have rules."""
        return any(table.rules is not None for table, _ in self._levels.tables())

    def distinct_rules(self) -> Dict[Rules, str]:
        """RETURNS (Dict[Tuple[Rule, ...], str]): The rules that words have, each once, and one of the words."""
        return distinct_rules(self._levels)

    def ruled_words(self) -> Iterator[LexiconEntry]:
        """RETURNS (Iterator[LexiconEntry]): The words that have rules, each with these alone."""
        return ruled_words(self._levels)

    def with_words(self, entries: Iterable[Union[str, LexiconEntry]]) -> "Lexicon":
        """Add words, or change what is known about words. What an entry leaves out (vector, weight, label, entity id)
        stays as it was; rules are given anew, all of a word together.

        entries (Iterable[Union[str, LexiconEntry]]): Words or entries. Raises LexiconError for one that is unfit.
        RETURNS (Lexicon): The new lexicon.
        """
        full = (LexiconEntry(entry) if isinstance(entry, str) else entry for entry in entries)
        return self._changed(self._levels.with_words(full))

    def without_words(self, words: Iterable[str]) -> "Lexicon":
        """Take words out. Unknown words are ignored.

        words (Iterable[str]): The words.
        RETURNS (Lexicon): The new lexicon.
        """
        return self._changed(self._levels.without_words(words))

    def _changed(self, levels: Levels) -> "Lexicon":
        lexicon = Lexicon(self._base, self.report, levels)
        lexicon._home = self._home
        return lexicon

    def compact(self) -> "Lexicon":
        """RETURNS (Lexicon): The same lexicon, with all changes worked in."""
        if not self._levels.changes:
            return self
        base = compile_base(self._levels.folded(), self.normalization, self._base.max_word_length)
        return Lexicon(base, self.report)

    def prune(self, texts: Iterable[str]) -> "Lexicon":
        """Keep the words that occur in texts.

        texts (Iterable[str]): The texts, read as a stream.
        RETURNS (Lexicon): The smaller lexicon.
        """
        base = self.compact()._base
        seen = np.zeros(len(base.rows), bool)
        for joined in join_texts(texts):
            _, _, found = base.trie.match(self.normalization.codes(to_codes(joined)))
            seen[found] = True
        table = base.full_table().take(np.sort(base.rows[seen]))
        return Lexicon(compile_base(table, self.normalization, base.max_word_length), self.report)

    # Matching

    def match(self, text: str, min_length: int = 1, max_length: Optional[int] = None) -> Candidates:
        """Find all words that occur in a text, overlapping.

        text (str): The text; its offsets are those of the result.
        min_length (int): Length of the shortest word to look for.
        max_length (Optional[int]): Length of the longest; None for any.
        RETURNS (Candidates): The words.
        """
        return find_words(self._levels.levels, text, min_length, max_length)

    # Files

    def save(self, path: Union[str, Path]) -> None:
        """Save to a folder, with all changes worked in. What is there stays whole until the new lexicon is complete.

        path (Union[str, Path]): The folder; made where it is missing.
        """
        if self._home is None or self._levels.changes or not link_folder(*self._home, Path(path)):
            save_folder(self.compact()._base, self.report, Path(path))

    @classmethod
    def open(cls, path: Union[str, Path], *, verify: bool = False) -> "Lexicon":
        """Open a saved lexicon. It is memory-mapped: opening reads next to nothing, and processes share it.

        path (Union[str, Path]): The folder.
        verify (bool): Also check the SHA-256 of every part, which reads all of it.
        RETURNS (Lexicon): The lexicon. Raises LexiconError, naming the file, where something is not as it was saved.
        """
        base, report, checksum = open_folder(Path(path), verify)
        lexicon = cls(base, report)
        lexicon._home = (Path(path).resolve(), checksum)
        return lexicon

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): The lexicon, in the safetensors format."""
        return to_bytes(self.compact()._base, self.report)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Lexicon":
        """RETURNS (Lexicon): The lexicon from `to_bytes`. Raises LexiconError for other bytes."""
        return cls(*from_bytes(data))

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Lexicon":
        return self

    def __reduce__(self) -> Tuple[Callable[..., "Lexicon"], Tuple[Any, ...]]:
        """Another process opens the folder that this lexicon is mapped from, so that both share its memory. Where there
        is none, or something else was saved to it since, the lexicon travels as bytes."""
        if self._home is not None and _checksum_of(self._home[0]) == self._home[1]:
            first, *others = self._levels.levels
            hidden = [first.base.entry_at(rank).word for rank in first.hidden.tolist()]
            added = [level.base.table.entry(row) for level in others for row in level.rows.tolist()]
            return _reopen, (*self._home, hidden, added)
        return Lexicon.from_bytes, (self.to_bytes(),)


def _checksum_of(path: Path) -> Optional[str]:
    try:
        return read_manifest(path)["checksum"]
    except LexiconError:
        return None


def _reopen(path: Path, checksum: str, hidden: List[str], added: List[LexiconEntry]) -> Lexicon:
    lexicon = Lexicon.open(path)
    if _checksum_of(path) != checksum:
        raise LexiconError(
            f"{path}: another lexicon was saved here since this one was pickled. Pickle it anew, or start the worker "
            "processes before saving."
        )
    return lexicon.without_words(hidden).with_words(added) if hidden or added else lexicon
