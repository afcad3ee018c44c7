"""A lexicon, and the rules of files laid over it, which can be taken away again."""

from typing import Dict, Iterable, Mapping, Optional

from .entry import LexiconEntry
from .lexicon import Lexicon
from .rules import NOTHING_BUT_A_HINT, Rules


class Dictionary:
    """A lexicon as it is without files of rules, and with them. Never changed itself.

    own (Lexicon): The lexicon without the files.
    from_files (Dict[str, Tuple[Rule, ...]]): The words that they name, normalised, each with its rules; a word without
        any is a mere hint.
    lexicon (Lexicon): The lexicon with the files: the words that they name are there, with these rules and no others.
    """

    def __init__(self, own: Lexicon, from_files: Mapping[str, Rules], lexicon: Optional[Lexicon] = None) -> None:
        self.own = own
        self.from_files: Dict[str, Rules] = {own.normalization(word): rules for word, rules in from_files.items()}
        if lexicon is None:
            entries = (LexiconEntry(word, rules=rules or NOTHING_BUT_A_HINT) for word, rules in self.from_files.items())
            lexicon = own.with_words(entries) if from_files else own
        self.lexicon = lexicon

    def with_words(self, entries: Iterable[LexiconEntry]) -> "Dictionary":
        """Add words, or change what is known about them. Rules that are given take the place of those of the files.

        entries (Iterable[LexiconEntry]): The entries.
        RETURNS (Dictionary): The new dictionary.
        """
        entries = list(entries)
        own = self.own.with_words(entries)
        if not self.from_files:
            return Dictionary(own, {})
        ruled = {own.normalization(entry.word) for entry in entries if entry.rules}
        return Dictionary(own, self._without_files(ruled), self.lexicon.with_words(entries))

    def without_words(self, words: Iterable[str]) -> "Dictionary":
        """Take words out, with their rules.

        words (Iterable[str]): The words; unknown ones are ignored.
        RETURNS (Dictionary): The new dictionary.
        """
        words = list(words)
        own = self.own.without_words(words)
        if not self.from_files:
            return Dictionary(own, {})
        gone = {own.normalization(word) for word in words}
        return Dictionary(own, self._without_files(gone), self.lexicon.without_words(words))

    def _without_files(self, words: Iterable[str]) -> Dict[str, Rules]:
        from_files = dict(self.from_files)
        for word in words:
            from_files.pop(word, None)
        return from_files
