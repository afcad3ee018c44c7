"""What the rules of the words in a Doc say about its spans."""

from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple

from spacy.tokens import Doc

from ...lexicon.rules import FORCE, PREFER, Rule
from .ruled_words import RuledWord
from .span_rules import NEVER, SpanRules
from .tag_scheme import NoPathError, TagSpan

CUTS_TOKENS, KEPT, OVERLAP = "tokens", "kept", "overlap"
NAMED = 5  # words in an error


class RuleConflict(NamedTuple):
    """A rule that was not followed at one place.

    word (str): The word, as it stands in the text.
    rule (str): Its rule, such as "force LOC".
    start_char (int), end_char (int): Its characters.
    reason (str): "tokens": it does not begin and end with tokens; "kept": the Doc brought along something that stands
        against it and is kept, such as an entity; "overlap": it overlaps another forced word, and readings with that
        one score more.
    winner (str): What is there instead: the text of the tokens, of what is kept, or the other word.
    component (str): The component that was to follow the rule.
    """

    word: str
    rule: str
    start_char: int
    end_char: int
    reason: str
    winner: str
    component: str = ""

    def __str__(self) -> str:
        why = {
            CUTS_TOKENS: f"it does not begin and end with tokens ({self.winner!r})",
            KEPT: f"the Doc brought along {self.winner!r}, which is kept",
            OVERLAP: f"it overlaps {self.winner!r}, and readings with that score more",
        }
        where = f"characters {self.start_char} to {self.end_char}"
        return f"'{self.rule}' of {self.word!r} ({where}) is not followed: {why[self.reason]}"


class ForcedWord(NamedTuple):
    """An occurrence that has to be one of several spans, which differ in the label."""

    word: RuledWord
    rule: Rule
    spans: Tuple[TagSpan, ...]


class DocRules(NamedTuple):
    """The rules for a Doc.

    spans (SpanRules): What they say about its spans.
    words (Tuple[RuledWord, ...]): The words that have them.
    forced (Tuple[ForcedWord, ...]): Those that are forced, and can be.
    conflicts (Tuple[RuleConflict, ...]): The rules that cannot be followed, whatever the model says.
    """

    spans: SpanRules = SpanRules()
    words: Tuple[RuledWord, ...] = ()
    forced: Tuple[ForcedWord, ...] = ()
    conflicts: Tuple[RuleConflict, ...] = ()

    def all_conflicts(self, found: Sequence[TagSpan], component: str) -> List[RuleConflict]:
        """Tell which rules were not followed.

        found (Sequence[TagSpan]): The spans of the reading.
        component (str): The component's name.
        RETURNS (List[RuleConflict]): The rules that could not be followed, and the forced words that lost to others.
        """
        conflicts = list(self.conflicts)
        if self.forced:
            there = set(found)
            winners = [forced.word for forced in self.forced if not there.isdisjoint(forced.spans)]
            for word, rule, spans in self.forced:
                if there.isdisjoint(spans):
                    winner = next(w.word for w in winners if w.start < word.end and word.start < w.end)
                    conflicts.append(conflict_of(word, rule, OVERLAP, winner))
        return [conflict._replace(component=component) for conflict in conflicts]

    def explain_impossible(self, text: str) -> str:
        """RETURNS (str): Which rules leave no reading of a text."""
        contradictory = {f.word.word: f.word for f in self.forced if self._refused(f)}
        words = contradictory or {word.word: word for word in self.words if word.whole}
        rules = [f"{word!r} has the rules {', '.join(map(str, w.rules))}" for word, w in sorted(words.items())]
        more = f"; and {len(rules) - NAMED} more words" if len(rules) > NAMED else ""
        return (
            f"No reading of {text[:40]!r} follows the rules of its words: {'; '.join(rules[:NAMED])}{more}. Correct "
            "them with add_rules of the lex_matcher, or in the dictionary file, and call its reload()."
        )

    def _refused(self, forced: ForcedWord) -> bool:
        return all(self.spans.weights.get(span) == NEVER for span in forced.spans)


NO_RULES = DocRules()


def decree(
    doc: Doc,
    words: Sequence[RuledWord],
    numbers: Callable[[Rule], Sequence[int]],
    find_kept: Callable[[RuledWord, Rule], str],
) -> DocRules:
    """Turn the rules of words into rules about spans.

    doc (Doc): The Doc.
    words (Sequence[RuledWord]): Its words that have rules.
    numbers (Callable[[Rule], Sequence[int]]): Gives the labels that a rule means.
    find_kept (Callable[[RuledWord, Rule], str]): Gives the text of what is kept and stands against a rule; empty if
        nothing does.
    RETURNS (DocRules): The rules.
    """
    forced: List[ForcedWord] = []
    weights: Dict[TagSpan, float] = {}
    conflicts: List[RuleConflict] = []
    for word in words:
        for rule in word.rules:
            if not word.whole:
                if rule.mode == FORCE:
                    conflicts.append(conflict_of(word, rule, CUTS_TOKENS, doc[word.start : word.end].text))
                continue
            if kept := find_kept(word, rule):
                conflicts.append(conflict_of(word, rule, KEPT, kept))
                continue
            spans = [TagSpan(word.start, word.end, number) for number in numbers(rule)]
            if rule.mode == FORCE:
                forced.append(ForcedWord(word, rule, tuple(spans)))
            else:
                change = rule.weight if rule.mode == PREFER else NEVER
                weights.update({span: weights.get(span, 0.0) + change for span in spans})
    spans_forced = tuple(span for each in forced for span in each.spans)
    return DocRules(SpanRules(spans_forced, weights), tuple(words), tuple(forced), tuple(conflicts))


def raise_impossible(error: NoPathError, texts: Sequence[str], rules: Sequence[DocRules], component: str) -> None:
    """Say which rules leave no reading of a Doc, if it is they.

    error (NoPathError): What the search has said.
    texts (Sequence[str]): The texts of the batch.
    rules (Sequence[DocRules]): Their rules.
    component (str): The component. Raises ValueError for the first of the Docs without a reading that has rules.
    """
    for i in error.docs:
        if rules[i].words:
            raise ValueError(f"{component}: {rules[i].explain_impossible(texts[i])}") from None


def conflict_of(word: RuledWord, rule: Rule, reason: str, winner: str) -> RuleConflict:
    """RETURNS (RuleConflict): What became of a rule at a word."""
    return RuleConflict(word.word, str(rule), word.start_char, word.end_char, reason, winner)
