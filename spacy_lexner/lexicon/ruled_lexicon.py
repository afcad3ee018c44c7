"""A lexicon with the rules of dictionary files on top, which can be removed again."""

from typing import Dict, FrozenSet, Iterable, Mapping, Optional

from .entry import LexiconEntry
from .lexicon import Lexicon
from .rules import HINT_ONLY, Rules, join_rules, normal_rules


class RuledLexicon:
    """A lexicon without and with the rules of dictionary files. Immutable. `own` is the lexicon without the files;
    `lexicon` also has the words of the files, whose rules replace those in `own`."""

    def __init__(self, own: Lexicon, from_files: Mapping[str, Rules], outdated: FrozenSet[str] = frozenset()) -> None:
        """Put the rules of files on top of a lexicon. A word that is only a hint in the files has no rules. Those in
        `outdated` (normalised) were changed since: for them `own` counts."""
        self.own, self.outdated = own, outdated
        self._read: Dict[str, Rules] = {}
        for word, rules in from_files.items():  # spellings that this lexicon takes for one word share their rules
            word = own.normalization.word(word)
            self._read[word] = normal_rules((*self._read[word], *rules)) if word in self._read else rules
        entries = [LexiconEntry(word, rules=rules or HINT_ONLY) for word, rules in self.from_files.items()]
        self.lexicon = own.with_words(entries) if entries else own

    @property
    def from_files(self) -> Dict[str, Rules]:
        """The words (normalised) with rules from files, and these rules."""
        return {word: rules for word, rules in self._read.items() if word not in self.outdated}

    def with_words(self, entries: Iterable[LexiconEntry]) -> "RuledLexicon":
        """The same with words added or changed; their rules, if any, replace those of the files."""
        entries = list(entries)
        ruled = (entry.word for entry in entries if entry.rules)
        lexicon = self.lexicon.with_words(entries) if self._read else None
        return self._changed(self.own.with_words(entries), lexicon, ruled)

    def without_words(self, words: Iterable[str]) -> "RuledLexicon":
        """The same without these words and their rules; unknown words are ignored."""
        words = list(words)
        lexicon = self.lexicon.without_words(words) if self._read else None
        return self._changed(self.own.without_words(words), lexicon, words)

    def with_file(self, given: Mapping[str, Rules]) -> "RuledLexicon":
        """The same with another file, whose words (normalised) get its rules in addition to those of the files before,
        and lose what was changed since."""
        return RuledLexicon(self.own, join_rules(self._read, given), self.outdated.difference(given))

    def _changed(self, own: Lexicon, lexicon: Optional[Lexicon], words: Iterable[str]) -> "RuledLexicon":
        changed = RuledLexicon(own, {})
        if lexicon is not None:
            changed.lexicon, changed._read = lexicon, self._read
            changed.outdated = self.outdated.union(own.normalization.word(word) for word in words)
        return changed
