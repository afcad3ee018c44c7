"""The part of `lex_matcher` that owns the lexicon and its rules, and changes them while Docs are annotated."""

import logging
import threading
from pathlib import Path
from typing import Any, Dict, Iterable, Optional, Sequence, Tuple, Union

from ...lexicon.entry import LexiconEntry
from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import Matcher, MatchOptions
from ...lexicon.readers.rule_file import RuleFile, collect_rules, read_rule_files
from ...lexicon.ruled_lexicon import RuledLexicon
from ...lexicon.rules import HINT_ONLY, RuleReader, Rules, WordRule, check_rules
from ...lexicon.shared_matcher import SharedMatcher

logger = logging.getLogger(__name__)
PathT = Union[str, Path]
_CHANGING = threading.RLock()  # a change reads what is there; readers need no lock


class LexiconOwner:
    """Owns a lexicon. Every change makes a new lexicon and puts it in the place of the old one at once: whoever reads
    sees one or the other, and a Doc is annotated by one of them throughout.

    A subclass sets `name` and `options`, and says who reads the lexicon (`rule_readers`, `vector_readers`).
    """

    name: str
    options: MatchOptions

    def __init__(self) -> None:
        self.source = SharedMatcher()
        self.rule_files: Tuple[RuleFile, ...] = ()
        self._dictionary: Optional[RuledLexicon] = None

    @property
    def rule_readers(self) -> Sequence[RuleReader]:
        """RETURNS (Sequence[RuleReader]): The components that obey rules."""
        return ()

    @property
    def all_have_labels(self) -> bool:
        """RETURNS (bool): Whether there are components that obey rules, and each has labels."""
        return bool(self.rule_readers)

    @property
    def vector_readers(self) -> Sequence[str]:
        """RETURNS (Sequence[str]): The components whose models read vectors."""
        return ()

    # What is there

    @property
    def lexicon(self) -> Lexicon:
        """RETURNS (Lexicon): The lexicon in use, with all rules. Raises ValueError if there is none yet."""
        return self.matcher.lexicon

    @property
    def version(self) -> int:
        """RETURNS (int): The state of lexicon, rules and options of matching; `doc._.lex_version` of the Docs that are
        annotated now."""
        return self.matcher.version

    @property
    def matcher(self) -> Matcher:
        """RETURNS (Matcher): The lexicon in use, with the options of matching. Raises ValueError without a lexicon."""
        if self.source.matcher is None:
            raise self._nothing_there()
        return self.source.matcher

    # Words

    def set_lexicon(self, lexicon: Lexicon) -> None:
        """Put another lexicon in the place of the present one, at once. The rules of files stay.

        lexicon (Lexicon): The lexicon. One with vectors of another width is refused while a model is linked, since the
            model could not read them; an empty one is always taken.
        """
        with _CHANGING:
            current, readers = self._dictionary, self.vector_readers
            if current is not None and readers and len(lexicon) and lexicon.dim != current.own.dim:
                raise ValueError(
                    f"The new lexicon has vectors of {lexicon.dim} dimensions, the present one of {current.own.dim}, "
                    f"and {', '.join(readers)} reads them: build the lexicon with vectors of the same width, or train "
                    "the components again with the new one."
                )
            self._check(lexicon.distinct_rules())
            self._use(RuledLexicon(lexicon, {} if current is None else current.from_files))

    def add_words(self, words: Iterable[Union[str, LexiconEntry]]) -> None:
        """Add words to the lexicon; what a Doc is matched with changes at once. A known word gets the new entry.

        words (Iterable[Union[str, LexiconEntry]]): Words, or entries with a vector, weight, label, entity id or rules.
        """
        entries = [LexiconEntry(word) if isinstance(word, str) else word for word in words]
        self._check({entry.rules: entry.word for entry in entries if entry.rules})
        with _CHANGING:
            if self._dictionary is None:
                self._use(RuledLexicon(Lexicon.from_entries(entries), {}))
            else:
                self._use(self._dictionary.with_words(entries))

    def remove_words(self, words: Iterable[str]) -> None:
        """Take words out of the lexicon, and their rules with them. Unknown words are ignored.

        words (Iterable[str]): The words.
        """
        with _CHANGING:
            self._use(self._present().without_words(words))

    # Rules

    def add_rules(self, rules: Iterable[Union[WordRule, Tuple[Any, ...]]]) -> None:
        """Give words rules, at once. All rules of a word are given together: those it had before are gone. Words that
        the lexicon does not have are added to it.

        rules (Iterable[Union[WordRule, Tuple]]): Word, mode ("hint", "force", "forbid", "prefer"), label, weight; what
            is left out at the end is as in WordRule. Raises LexiconError for what makes no sense, contradicts
            itself, or concerns no component, and changes nothing then.
        """
        given = collect_rules(row if isinstance(row, WordRule) else WordRule(*row) for row in rules)
        self.add_words([LexiconEntry(word, rules=own or HINT_ONLY) for word, own in given.items()])

    def remove_rules(self, words: Iterable[str]) -> None:
        """Take the rules of words away. The words stay, as hints.

        words (Iterable[str]): The words; unknown ones are ignored.
        """
        with _CHANGING:
            known = [word for word in words if word in self.lexicon]
            self.add_words([LexiconEntry(word, rules=HINT_ONLY) for word in known])

    def load_rules(self, path: PathT, *, encoding: str = "utf8") -> None:
        """Read a dictionary file: word, mode, label, weight on each line, with tabs between them (see `read_rules`). It
        is remembered for `reload`, and its words have its rules in place of others.

        path (Union[str, Path]): The file.
        encoding (str): Its encoding.
        """
        file = RuleFile(str(path), encoding)
        with _CHANGING:
            self.set_rule_files([*(known for known in self.rule_files if known.path != file.path), file])

    def reload(self) -> None:
        """Read the dictionary files again. Whatever is wrong with one, the present rules stay."""
        self.set_rule_files(self.rule_files)

    def set_rule_files(self, files: Iterable[RuleFile]) -> None:
        """Read dictionary files, and let them take the place of those read before.

        files (Iterable[RuleFile]): The files. The rules of a word that several of them name come together.
        """
        files = tuple(files)
        with _CHANGING:
            rules = read_rule_files(files)
            self._check({own: word for word, own in rules.items()})
            own = Lexicon.from_entries([]) if self._dictionary is None else self._dictionary.own
            self._use(RuledLexicon(own, rules))
            self.rule_files = files

    # How it changes

    def _present(self) -> RuledLexicon:
        if self._dictionary is None:
            raise self._nothing_there()
        return self._dictionary

    def _nothing_there(self) -> ValueError:
        return ValueError(
            f"The pipe '{self.name}' has no lexicon. Give it one: a reader in the config's "
            f"[initialize.components.{self.name}.lexicon], or add_words([...]), or set_lexicon(Lexicon.open(path))."
        )

    def _use(self, dictionary: RuledLexicon) -> None:
        self._dictionary = dictionary
        self.source.set(Matcher(dictionary.lexicon, self.options))

    def _check(self, words: Dict[Rules, str]) -> None:
        """Refuse rules, each with a word that has them, that contradict each other or concern nobody."""
        for rules, word in words.items():
            check_rules(word, rules, self.rule_readers)

    def check_rules(self) -> None:
        """Check the rules that are there, once everyone has labels who is to follow them. Raises LexiconError for one
        that contradicts another one of its word, or concerns nobody."""
        if self._dictionary is not None and self.all_have_labels:
            self._check(self.lexicon.distinct_rules())

    def warn_of_rules(self) -> None:
        """Tell of rules in the lexicon that contradict each other or concern nobody: a component came later than they
        did."""
        if self._dictionary is not None and self.all_have_labels:
            for rules, word in self.lexicon.distinct_rules().items():
                try:
                    self._check({rules: word})
                except ValueError as error:
                    logger.warning("%s: %s", self.name, error)
