"""The lexicon: words with their vectors, weights, labels, entity ids and rules."""

from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from .build import BuildReport, Dtype, build_table
from .changes import add_words, remove_words
from .entry import LexiconEntry, reject_single
from .errors import LexiconError
from .level import TEXT_SEPARATOR, Level, compile_level
from .levels import Levels
from .normalization import Normalization, to_codes

if TYPE_CHECKING:  # modules that read and write files are imported on first use
    from .storage import Home

TEXTS_PER_MATCH = 500


class Lexicon(Levels):
    """Words, each with a weight and optionally a vector, labels, an entity id and rules. Immutable and thread-safe;
    `with_words` and `without_words` return a new lexicon that shares everything but the changes with this one.

    report (BuildReport): What was skipped when it was built, and why.
    version (int): 64 bits. Equal for two lexicons with the same entries, vector type and normalisation, in any order
        and however they were made.
    """

    def __init__(
        self,
        levels: Sequence[Level],
        content: int,
        dim: int,
        report: BuildReport,
        home: Optional["Home"] = None,
        origin: Optional["Home"] = None,
    ) -> None:
        super().__init__(levels, content, dim)
        self._home = home  # the folder that it is mapped from
        self._origin = origin  # the saved lexicon that it is derived from
        self.report = report
        state = f"{self.content} {self.base.table.vectors.dtype} {tuple(self.normalization.settings().values())}"
        self.version = int.from_bytes(blake2b(state.encode("utf8"), digest_size=8).digest(), "little")

    @classmethod
    def _of(cls, level: Level, report: BuildReport, **known: Optional["Home"]) -> "Lexicon":
        """Create a lexicon of one level."""
        return cls([level], level.content, level.table.vectors.shape[1], report, **known)

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
        """Build a lexicon from a stream of entries, which are never all in memory. The first of equal words wins, with
        the labels of all.

        entries (Iterable[LexiconEntry]): The entries. If they come from a reader, messages name its file and line.
        dtype (str): Type in which vectors are stored: "float32" or "float16".
        normalization (Optional[Normalization]): Of case, width and script, applied to the words, and to texts when
            matching.
        max_word_length (int): Longer words are skipped.
        strict (bool): Raise LexiconError for an entry that would be skipped.
        merge (bool): Merge equal words: a word without a vector gets that of the first equal word that has one.
        RETURNS (Lexicon): The lexicon; its `report` lists what was skipped.
        """
        reject_single(entries)
        normalization = Normalization() if normalization is None else normalization
        table, report = build_table(
            entries,
            dtype=dtype,
            normalization=normalization,
            max_word_length=max_word_length,
            strict=strict,
            merge=merge,
        )
        return cls._of(compile_level(table, normalization, max_word_length), report)

    # Changes

    def with_words(self, entries: Iterable[Union[str, LexiconEntry]]) -> "Lexicon":
        """Add or change words. Fields that an entry leaves out (vector, weight, labels, entity id) stay as they were;
        its rules, if it has any, replace all rules of the word. The last of equal words wins, with the labels of all.

        entries (Iterable[Union[str, LexiconEntry]]): Words or entries. Raises LexiconError for an invalid one.
        RETURNS (Lexicon): The new lexicon.
        """
        reject_single(entries)
        full = (LexiconEntry(entry) if isinstance(entry, str) else entry for entry in entries)
        return self._with(*add_words(self, full))

    def without_words(self, words: Iterable[str]) -> "Lexicon":
        """RETURNS (Lexicon): A lexicon without these words; unknown ones are ignored."""
        reject_single(words)
        return self._with(*remove_words(self, words))

    def _with(self, levels: Sequence[Level], content: int, dim: int) -> "Lexicon":
        return Lexicon(levels, content, dim, self.report, self._home, self._origin)

    def compact(self) -> "Lexicon":
        """RETURNS (Lexicon): The same lexicon with all levels merged into one."""
        return Lexicon._of(self.merged(), self.report, origin=self._origin) if self.changed else self

    def prune(self, texts: Iterable[str]) -> "Lexicon":
        """RETURNS (Lexicon): A lexicon of only the words that occur in the texts, which are read as a stream."""
        reject_single(texts, "text")
        level, stream = self.merged(), iter(texts)
        seen = np.zeros(level.size, bool)
        while batch := list(islice(stream, TEXTS_PER_MATCH)):
            _, _, ranks = level.trie.match(self.normalization.codes(to_codes(TEXT_SEPARATOR.join(batch))))
            seen[level.rows[ranks]] = True
        table = level.visible_table().take(np.flatnonzero(seen))
        level = compile_level(table, self.normalization, self.max_word_length)
        return Lexicon._of(level, self.report, origin=self._origin)

    # Files

    def save(self, path: Union[str, Path], *, overwrite: bool = False) -> None:
        """Save to a folder, created if needed. A lexicon already there stays intact until the new one is complete;
        writers wait for one another.

        overwrite (bool): Save to the folder that this lexicon was opened from even if another lexicon, which is then
            lost, has been saved there since. Otherwise that raises LexiconError.
        """
        from .storage import save_folder
        from .writing import writing

        folder = Path(path)
        with writing(folder):
            if self._origin is not None and not overwrite:
                self._origin.require_present(folder)
            if self._home is None or self.changed or not self._home.link(folder):
                self._origin = save_folder(self.merged(), self.report, folder)

    @classmethod
    @contextmanager
    def edit(cls, path: Union[str, Path]) -> Iterator["Lexicon"]:
        """Open a saved lexicon to change it, and lock its folder until the block ends, so that no change by another
        writer is lost: `with Lexicon.edit(path) as lexicon: lexicon.with_words(["南京"]).save(path)`.

        YIELDS (Lexicon): The lexicon.
        """
        from .storage import read_manifest
        from .writing import writing

        read_manifest(Path(path))  # an error before anything is created
        with writing(Path(path)):
            yield cls.open(path)

    @classmethod
    def open(cls, path: Union[str, Path], *, verify: bool = False) -> "Lexicon":
        """Open a saved lexicon, memory-mapped: opening reads almost nothing, and processes share the memory.

        verify (bool): Read and check every part in full; otherwise only some pages of large parts are checked.
        RETURNS (Lexicon): The lexicon. Raises LexiconError, naming the file, if anything differs from what was saved.
        """
        from .storage import open_folder

        base, report, home = open_folder(Path(path), verify)
        return cls._of(base, report, home=home, origin=home)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): The lexicon, in the safetensors format."""
        from .storage import to_bytes

        return to_bytes(self.merged(), self.report)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Lexicon":
        """RETURNS (Lexicon): The lexicon written by `to_bytes`. Raises LexiconError for other bytes."""
        from .storage import from_bytes

        base, report = from_bytes(data)
        return cls._of(base, report)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Lexicon":
        return self

    def __reduce__(self) -> Tuple[Callable[..., "Lexicon"], Tuple[Any, ...]]:
        """Pickle the folder that this lexicon is mapped from, so that the other process maps it too and shares the
        memory. Without such a folder, or once another lexicon was saved to it, the lexicon is pickled as bytes."""
        if self._home is not None and self._home.unchanged():
            base, *others = self.levels
            hidden = list(map(base.table.words.get, base.rows[base.hidden].tolist()))
            added = [level.table.entry(row) for level in others for row in level.visible_rows.tolist()]
            return _reopen, (self._home, hidden, added)
        return Lexicon.from_bytes, (self.to_bytes(),)


def _reopen(home: "Home", hidden: List[str], added: List[LexiconEntry]) -> Lexicon:
    lexicon = Lexicon.open(home.path)
    if not home.unchanged():
        raise LexiconError(
            f"{home.path}: another lexicon was saved here since this one was pickled. Pickle it again, or start the "
            "worker processes before saving."
        )
    return lexicon.without_words(hidden).with_words(added) if hidden or added else lexicon
