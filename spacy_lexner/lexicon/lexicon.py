"""The lexicon: words, and what is known about them."""

from hashlib import blake2b
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple, Union

import numpy as np

from .base import LexiconBase, compile_base
from .build import Dtype, build_table
from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .normalization import Normalization, to_codes
from .overlay import Overlay
from .report import BuildReport
from .storage import from_bytes, open_folder, save_folder, to_bytes

MAX_OVERLAY = 10_000


class LexiconMatches(NamedTuple):
    """Words found in a text, ordered by start, then by length.

    start (numpy.ndarray): int64[n], first character.
    length (numpy.ndarray): int64[n].
    hash (numpy.ndarray): uint64[n], hash of the word.
    """

    start: np.ndarray
    length: np.ndarray
    hash: np.ndarray


class Lexicon:
    """Words, each with a vector, weight, label and entity id if it has one. Immutable and safe to read from several
    threads; `with_words` and `without_words` give a new lexicon that shares everything with this one but the changes.

    report (BuildReport): What was skipped when it was built, and why.
    version (int): 64 bits from the content: two lexicons with the same entries and normalisation have the same.
    """

    def __init__(self, base: LexiconBase, report: BuildReport, overlay: Optional[Overlay] = None) -> None:
        self._base = base
        self._overlay = Overlay(base) if overlay is None else overlay
        self.report = report
        self._home: Optional[Tuple[Path, str]] = None  # folder that the base is mapped from, checksum of its manifest
        self.version = self._version()

    @classmethod
    def from_entries(
        cls,
        entries: Iterable[LexiconEntry],
        *,
        dtype: Dtype = "float32",
        normalization: Optional[Normalization] = None,
        max_word_length: int = 64,
        strict: bool = False,
    ) -> "Lexicon":
        """Build a lexicon from a stream, which is never held in memory as a whole. The first of equal words wins.

        entries (Iterable[LexiconEntry]): The entries.
        dtype (str): "float32" or "float16", how vectors are stored.
        normalization (Optional[Normalization]): Of case and width, applied to the words, and to texts when matching.
        max_word_length (int): Longer words are skipped.
        strict (bool): Raise LexiconError for an entry that would be skipped.
        RETURNS (Lexicon): The lexicon; its `report` says what was skipped.
        """
        normalization = Normalization() if normalization is None else normalization
        table, report = build_table(
            entries, dtype=dtype, normalization=normalization, max_word_length=max_word_length, strict=strict
        )
        return cls(compile_base(table, normalization, max_word_length), report)

    # Properties

    @property
    def normalization(self) -> Normalization:
        """RETURNS (Normalization): How words and texts are compared."""
        return self._base.normalization

    @property
    def dim(self) -> int:
        """RETURNS (int): Width of the vectors; 0 if there are none."""
        return self._base.table.vectors.shape[1] or self._overlay.compiled.table.vectors.shape[1]

    @property
    def longest(self) -> int:
        """RETURNS (int): Length of the longest word, in characters."""
        return max(self._base.longest, self._overlay.compiled.longest)

    def _version(self) -> int:
        overlay = self._overlay
        content = self._base.version + overlay.compiled.version
        if overlay.hidden:
            rows = self._base.rows[overlay.hidden_ranks]
            content -= int(self._base.table.contents[rows].sum(dtype="u8"))
        state = f"{content % 2**64} {tuple(self.normalization)}"
        return int.from_bytes(blake2b(state.encode("utf8"), digest_size=8).digest(), "little")

    # Words

    def hash(self, word: str) -> int:
        """RETURNS (int): The hash of a word, normalised as this lexicon does."""
        return hash_word(self.normalization(word))

    def __len__(self) -> int:
        return len(self._base.hashes) - len(self._overlay.hidden) + len(self._overlay.added)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.get(word) is not None

    def __iter__(self) -> Iterator[str]:
        return (entry for entry in self._words())

    def _words(self) -> Iterator[str]:
        hidden = set(self._base.rows[self._overlay.hidden_ranks].tolist())
        for row, word in enumerate(self._base.table.words.all()):
            if row not in hidden:
                yield word
        yield from (entry.word for entry in self._overlay.added.values())

    def entries(self) -> Iterator[LexiconEntry]:
        """YIELDS (LexiconEntry): All entries, in the order of the words."""
        hidden = set(self._base.rows[self._overlay.hidden_ranks].tolist())
        for row in range(len(self._base.rows)):
            if row not in hidden:
                yield self._base.entry(row)
        yield from self._overlay.added.values()

    def get(self, word: str) -> Optional[LexiconEntry]:
        """Look a word up.

        word (str): The word.
        RETURNS (Optional[LexiconEntry]): What is known about it; None if it is not in the lexicon.
        """
        word = self.normalization(word)
        added = self._overlay.added.get(word)
        if added is not None:
            return added
        rank = int(self._base.ranks(np.array([hash_word(word)], "u8"))[0])
        if rank < 0 or rank in self._overlay.hidden:
            return None
        entry = self._base.entry(int(self._base.rows[rank]))
        return entry if entry.word == word else None

    def rows(self, hashes: np.ndarray) -> np.ndarray:
        """Number words.

        hashes (numpy.ndarray): uint64[n], hashes of words.
        RETURNS (numpy.ndarray): int64[n], a number for each word, the same in equal lexicons; -1 where unknown.
        """
        base, overlay = self._base, self._overlay
        hashes = np.asarray(hashes, "u8")
        ranks = base.ranks(hashes)
        if len(base.rows):
            rows = np.where((ranks >= 0) & overlay.visible(ranks), base.rows.take(ranks, mode="clip"), -1)
        else:
            rows = ranks
        if overlay.added:
            added = overlay.compiled
            ranks = added.ranks(hashes)
            rows = np.where(ranks >= 0, added.rows.take(ranks, mode="clip") + len(base.rows), rows)
        return rows.astype("i8")

    def vectors(self, hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Look vectors up.

        hashes (numpy.ndarray): uint64[n], hashes of words.
        RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): float32[n, dim], a row of zeros where a word has no vector;
            bool[n], which words have one.
        """
        rows = self.rows(hashes)
        vectors, known = np.zeros((len(rows), self.dim), "f4"), np.zeros(len(rows), bool)
        n_base = len(self._base.rows)
        for table, offset, mine in (
            (self._base.table, 0, (rows >= 0) & (rows < n_base)),
            (self._overlay.compiled.table, n_base, rows >= n_base),
        ):
            if table.vector_rows is not None:
                place = np.flatnonzero(mine)
                chosen = table.vector_rows[rows[place] - offset]
                place, chosen = place[chosen >= 0], chosen[chosen >= 0]
                vectors[place] = table.vectors[chosen]
                known[place] = True
        return vectors, known

    # Change

    def with_words(self, entries: Iterable[Union[str, LexiconEntry]]) -> "Lexicon":
        """Add words, or change what is known about words. What an entry leaves out (vector, weight, label, entity id)
        stays as it was.

        entries (Iterable[Union[str, LexiconEntry]]): Words or entries. Raises LexiconError for one that is no good.
        RETURNS (Lexicon): The new lexicon.
        """
        added, hide = [], []
        for given in entries:
            entry = LexiconEntry(given) if isinstance(given, str) else given
            word = self.normalization(entry.word)
            entry = _update(self.get(word), entry._replace(word=word))
            added.append(entry)
            rank = int(self._base.ranks(np.array([hash_word(word)], "u8"))[0])
            if rank >= 0:
                hide.append(rank)
        return self._edited(self._overlay.edited(add=added, hide=hide))

    def without_words(self, words: Iterable[str]) -> "Lexicon":
        """Take words out. Unknown words are ignored.

        words (Iterable[str]): The words.
        RETURNS (Lexicon): The new lexicon.
        """
        normalized = [self.normalization(word) for word in words]
        ranks = self._base.ranks(np.array([hash_word(word) for word in normalized], "u8"))
        return self._edited(self._overlay.edited(remove=normalized, hide=ranks[ranks >= 0].tolist()))

    def _edited(self, overlay: Overlay) -> "Lexicon":
        lexicon = Lexicon(self._base, self.report, overlay)
        return lexicon.compact() if len(overlay) > MAX_OVERLAY else lexicon

    def compact(self) -> "Lexicon":
        """RETURNS (Lexicon): The same lexicon, with all changes worked in."""
        if not len(self._overlay):
            return self
        base = compile_base(self._overlay.folded(), self.normalization, self._base.max_word_length)
        return Lexicon(base, self.report)

    def prune(self, texts: Iterable[str]) -> "Lexicon":
        """Keep the words that occur in texts.

        texts (Iterable[str]): The texts, read as a stream.
        RETURNS (Lexicon): The smaller lexicon.
        """
        lexicon = self.compact()
        base = lexicon._base
        seen = np.zeros(len(base.rows), bool)
        for text in texts:
            seen[lexicon.rows(lexicon.match(text).hash)] = True
        table = lexicon._overlay.folded().take(np.flatnonzero(seen))
        return Lexicon(compile_base(table, self.normalization, base.max_word_length), self.report)

    # Files

    def save(self, path: Union[str, Path]) -> None:
        """Save to a folder, with all changes worked in. What is there stays whole until the new lexicon is complete.

        path (Union[str, Path]): The folder; made where it is missing.
        """
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

    # Matching

    def match(self, text: str, min_length: int = 1, max_length: Optional[int] = None) -> LexiconMatches:
        """Find all words that occur in a text, overlapping.

        text (str): The text; its offsets are those of the result.
        min_length (int): Length of the shortest word to look for.
        max_length (Optional[int]): Length of the longest; None for any.
        RETURNS (LexiconMatches): The words.
        """
        codes = self.normalization.codes(to_codes(text))
        base, overlay = self._base, self._overlay
        start, length, word = base.trie.match(codes, min_length, max_length)
        if overlay.hidden:
            visible = np.flatnonzero(overlay.visible(word))
            start, length, word = start.take(visible), length.take(visible), word.take(visible)
        hashes = base.hash_of(word)
        if not overlay.added:
            return LexiconMatches(start, length, hashes)
        added = overlay.compiled
        more = added.trie.match(codes, min_length, max_length)
        start, length = np.concatenate([start, more.start]), np.concatenate([length, more.length])
        hashes = np.concatenate([hashes, added.hash_of(more.word)])
        order = np.lexsort((length, start))
        return LexiconMatches(start[order], length[order], hashes[order])

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Lexicon":
        return self


def _update(known: Optional[LexiconEntry], new: LexiconEntry) -> LexiconEntry:
    """What a new entry leaves out stays as it was."""
    if known is None:
        return new
    return LexiconEntry(
        new.word,
        known.vector if new.vector is None else new.vector,
        known.weight if new.weight == 1.0 else new.weight,
        new.label or known.label,
        new.entity_id or known.entity_id,
    )


__all__ = ["Lexicon", "LexiconError", "LexiconMatches"]
