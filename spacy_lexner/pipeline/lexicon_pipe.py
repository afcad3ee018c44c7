"""The part of `lex_matcher` that owns a lexicon and its rules, and changes them."""

import logging
import threading
from pathlib import Path
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Set, Tuple, Union

from spacy.language import Language

from ..lexicon.entry import LexiconEntry, reject_single
from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon
from ..lexicon.limits import quote
from ..lexicon.matcher import Matcher, MatchOptions, check_options
from ..lexicon.normalization import Normalization
from ..lexicon.rule_file import AS_WRITTEN, RuleFile, collect_rules, read_rule_files
from ..lexicon.ruled_lexicon import RuledLexicon
from ..lexicon.rules import HINT, HINT_ONLY, Rules, WordRule, check_rules, join_rules, normal_rules
from .linked_pipe import LinkedPipe

logger = logging.getLogger(__name__)
_CHANGING = threading.RLock()  # a change builds on the current lexicon; reading needs no lock


class LexiconPipe(LinkedPipe):
    """A pipe that owns a lexicon. Every change makes a new lexicon, which replaces the old one atomically: readers see
    one or the other, and each Doc is annotated with one of them throughout."""

    def __init__(self, name: str, options: MatchOptions) -> None:
        """Create the pipe without a lexicon."""
        check_options(options)
        super().__init__(name)
        self.options = options
        self.model = None
        self.rule_files: Tuple[RuleFile, ...] = ()  # the dictionary files from which rules were read
        self._dictionary: Optional[RuledLexicon] = None

    @property
    def matcher(self) -> Matcher:
        """RETURNS (Matcher): The lexicon in use, with the match options. Raises ValueError if there is none yet."""
        if self.source.matcher is None:
            raise ValueError(
                f"The pipe '{self.name}' has no lexicon. Give it one: a reader in the config's "
                f"[initialize.components.{self.name}.lexicon], or add_words([...]), or "
                "set_lexicon(Lexicon.open(path)). `spacy init config` writes no reader; `spacy lexner init-config` "
                "does: train with its config."
            )
        return self.source.matcher

    @property
    def lexicon(self) -> Lexicon:
        """RETURNS (Lexicon): The lexicon in use, with all rules. Raises ValueError if there is none yet."""
        return self.matcher.lexicon

    @property
    def version(self) -> str:
        """RETURNS (str): A 64-bit hash of lexicon, rules and options as 16 hexadecimal digits; Docs annotated with them
        have it as `doc._.lex_version`."""
        return f"{self.matcher.version:016x}"

    # Words

    def set_lexicon(self, lexicon: Lexicon) -> None:
        """Replace the lexicon atomically; rules from files stay. Raises ValueError if its vectors differ in width from
        those that linked models were trained with; an empty lexicon always fits."""
        with _CHANGING:
            current = self._dictionary
            self._check(lexicon.distinct_rules())
            rules = {} if current is None else current.from_files
            outdated = frozenset() if current is None else current.outdated
            self.use_words(RuledLexicon(lexicon, rules, outdated))

    def add_words(self, words: Iterable[Union[str, LexiconEntry]]) -> None:
        """Add words to the lexicon atomically. Fields that the entry of a known word leaves out stay as they were.

        words (Iterable[Union[str, LexiconEntry]]): Words, or entries with a vector, weight, label, entity id or rules.
            The last of equal words counts, with the labels of all. Raises LexiconError, and changes nothing, for an
            invalid one.
        """
        reject_single(words)
        entries = [word if isinstance(word, LexiconEntry) else LexiconEntry(word) for word in words]
        self._check({normal_rules(entry.rules): entry.word for entry in entries if entry.rules})
        with _CHANGING:
            if self._dictionary is None:  # not `from_entries`, which leaves out what is invalid
                self.use_words(RuledLexicon(Lexicon.from_entries([]).with_words(entries).compact(), {}))
            else:
                self.use_words(self._dictionary.with_words(entries))

    def remove_words(self, words: Iterable[str]) -> None:
        """Remove words and their rules from the lexicon. Unknown words are ignored."""
        reject_single(words)
        with _CHANGING:
            self.use_words(self._present().without_words(words))

    def replace_words(self, entries: Iterable[LexiconEntry], removed: Iterable[str] = ()) -> RuledLexicon:
        """Compute the lexicon in which words have exactly these entries, and others are removed. Unlike in `add_words`,
        fields that an entry leaves out are not kept. The lexicon in use changes only when the result goes to
        `use_words`.

        entries (Iterable[LexiconEntry]): The entries. Raises LexiconError if one or its rules are invalid.
        removed (Iterable[str]): The words to remove; unknown ones are ignored.
        RETURNS (RuledLexicon): The new lexicon, with the rules from files.
        """
        entries = list(entries)
        self._check({normal_rules(entry.rules): entry.word for entry in entries if entry.rules})
        with _CHANGING:
            without = self._present().without_words([*removed, *(entry.word for entry in entries)])
            return without.with_words(entries)

    def use_words(self, dictionary: RuledLexicon) -> None:
        """Put a lexicon, such as one from `replace_words`, into use atomically. Raises ValueError if linked models
        cannot read its vectors, see `set_lexicon`."""
        with _CHANGING:
            self.check_width(dictionary.lexicon)
            self._put(dictionary)

    def _put(self, dictionary: RuledLexicon) -> None:
        self._dictionary = dictionary
        self.source.set(Matcher(dictionary.lexicon, self.options))

    def _present(self) -> RuledLexicon:
        """The lexicon and the rules from files. Raises ValueError if there is no lexicon yet."""
        return self._dictionary or RuledLexicon(self.lexicon, {})

    def _present_or_empty(self) -> RuledLexicon:
        return self._dictionary or RuledLexicon(Lexicon.from_entries([]), {})

    # Rules

    @property
    def _normalization(self) -> Normalization:
        """That of the lexicon, or of the one that the first words will make."""
        return AS_WRITTEN if self._dictionary is None else self._dictionary.own.normalization

    @property
    def words_from_files(self) -> Set[str]:
        """RETURNS (Set[str]): The words, normalised, that have rules from dictionary files."""
        return set() if self._dictionary is None else set(self._dictionary.from_files)

    def add_rules(self, rules: Iterable[Union[WordRule, Tuple[Any, ...]]]) -> None:
        """Give words rules, atomically. A word's new rules replace all its old ones. Words that the lexicon lacks are
        added.

        rules (Iterable[Union[WordRule, Tuple]]): Word, mode ("hint", "force", "forbid", "prefer"), label, weight;
            trailing fields may be omitted and default to those of WordRule. Raises LexiconError, and changes nothing,
            if a rule is invalid, contradicts another or applies to no component.
        """
        reject_single(rules)
        rows = (row if isinstance(row, WordRule) else WordRule(*row) for row in rules)
        given = collect_rules(rows, self._normalization)
        self.add_words([LexiconEntry(word, rules=own or HINT_ONLY) for word, own in given.items()])

    def remove_rules(self, words: Iterable[str]) -> None:
        """Remove the rules of words. The words stay as hints; unknown ones are ignored."""
        reject_single(words)
        with _CHANGING:
            known = [word for word in words if word in self.lexicon]
            self.add_words([LexiconEntry(word, rules=HINT_ONLY) for word in known])

    def load_rules(self, path: Union[str, Path], *, encoding: str = "utf8") -> None:
        """Read a dictionary file: word, mode, label, weight on each line, separated by tabs (see `read_rules`). Its
        rules replace all other rules of its words except those from other files. `reload` reads the file again, and so
        does another call with its path; either reads the other files again, too."""
        file = RuleFile(str(path), encoding)
        with _CHANGING:
            others = tuple(known for known in self.rule_files if known.path != file.path)
            if others == self.rule_files:
                given = read_rule_files([file], self._normalization)
                self._use_rules(self._present_or_empty().with_file(given), (*others, file))
            else:
                self._use_files((*others, file), [file])

    def reload(self) -> None:
        """Read the dictionary files again. If one of them is invalid, the current rules stay."""
        self.set_rule_files(self.rule_files)

    def set_rule_files(self, files: Iterable[RuleFile]) -> None:
        """Read dictionary files, which replace those read before. A word in several files has all their rules."""
        files = tuple(files)
        self._use_files(files, files)

    def _use_files(self, files: Tuple[RuleFile, ...], renewed: Sequence[RuleFile]) -> None:
        """Read dictionary files. Words of the `renewed` ones lose what was changed by other means; others keep it."""
        with _CHANGING:
            current = self._present_or_empty()
            rules: Dict[str, Rules] = {}
            outdated = current.outdated
            for file in files:
                given = read_rule_files([file], self._normalization)
                rules = join_rules(rules, given)
                outdated = outdated.difference(given) if file in renewed else outdated
            self._use_rules(RuledLexicon(current.own, rules, outdated), files)

    def _use_rules(self, dictionary: RuledLexicon, files: Tuple[RuleFile, ...]) -> None:
        """Put a lexicon with the rules of these files into use, if each of them applies to a component."""
        self._check({rules: word for word, rules in dictionary.from_files.items()})
        self.use_words(dictionary)
        self.rule_files = files

    def check_rules(self, *, warn: bool = False) -> None:
        """Check all rules, once every component that follows rules has labels. Raises LexiconError for a rule that
        contradicts another of its word or applies to no component; with `warn`, for rules that may be older than the
        components, it logs a warning instead, or one if the linked components read another lexicon."""
        links, others = self.rules_links, self.superseded_by
        if self._dictionary is None or not (links or others) or any(link.reader is None for link in links):
            return
        if warn and others:
            logger.warning(
                "%s: no component reads its words: %s read the lexicon of %s. Put all words into one lexicon, or each "
                "lex_matcher directly before the components that are to read it.",
                *(self.name, ", ".join(self.listener_map), others),
            )
            return
        for rules, word in self.lexicon.distinct_rules().items():
            try:
                self._check({rules: word})
            except LexiconError as error:
                if not warn:
                    raise
                logger.warning("%s: %s", self.name, error)

    def _check(self, words: Mapping[Rules, str]) -> None:
        """Raise LexiconError for rules (mapped to one of their words) that contradict each other or apply to no
        component."""
        readers, others = self.rule_readers, self.superseded_by
        for rules, word in words.items():
            if others and any(rule.mode != HINT for rule in rules):
                raise LexiconError(
                    f"The rules of {quote(word)} apply to no component: {', '.join(self.listener_map)} read the "
                    f"lexicon of {others}, not that of {self.name!r}. Add the rules to the former."
                )
            check_rules(word, rules, readers)


def find_matchers(nlp: Language) -> Dict[str, LexiconPipe]:
    """The enabled components that own a lexicon, by name."""
    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, LexiconPipe)}


def find_lexicon(nlp: Language) -> Optional[Lexicon]:
    """The lexicon of the last matcher that has one; its words are those in the Docs."""
    matchers = [pipe.source.matcher for pipe in find_matchers(nlp).values()]
    return next((matcher.lexicon for matcher in reversed(matchers) if matcher is not None), None)
