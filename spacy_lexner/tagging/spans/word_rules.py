"""The rules of the words in a Doc: where such words are, what rules say about spans, and which are not followed."""

from bisect import bisect_right
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ...candidates.storage import token_borders
from ...lexicon.matcher import Matcher, Occurrence, find_occurrences
from ...lexicon.rules import FORCE, PREFER, Rule, RuleReader, Rules
from ...lexicon.unbreakable import is_unbreakable
from .span_rules import NEVER, SpanRules
from .tag_scheme import NoPathError, TagSpan

CUTS_TOKENS, KEPT, OVERLAP = "tokens", "kept", "overlap"
MAX_NAMED = 5  # words in an error


class RuleMatch(NamedTuple):
    """An occurrence of a word that has rules."""

    start_char: int
    end_char: int
    start: int  # the tokens that it touches; `end` is exclusive
    end: int
    aligned: bool  # whether it begins and ends with tokens, so that it can be a span
    word: str  # its text
    rules: Rules  # those that concern the component


class RuleConflict(NamedTuple):
    """A rule that was not followed at one place.

    word (str): The word as it occurs in the text.
    rule (str): Its rule, such as "force LOC".
    start_char (int), end_char (int): Its characters.
    reason (str): "tokens": it does not begin and end with tokens; "kept": it contradicts something that the Doc came
        with and that is kept, such as an entity; "overlap": it overlaps another forced word that scores higher.
    winner (str): What is there instead: the text of the tokens, of what is kept, or the other word.
    component (str): The component that the rule concerns.
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
            KEPT: f"the Doc came with {self.winner!r}, which is kept",
            OVERLAP: f"it overlaps {self.winner!r}, which scores higher",
        }
        where = f"characters {self.start_char} to {self.end_char}"
        return f"'{self.rule}' of {self.word!r} ({where}) is not followed: {why[self.reason]}"


class ForcedWord(NamedTuple):
    """A match that has to be one of several spans, which differ in the label."""

    match: RuleMatch
    rule: Rule
    spans: Tuple[TagSpan, ...]

    def conflict(self, reason: str, winner: str) -> RuleConflict:
        """That it is not followed after all."""
        return _conflict(self.match, self.rule, reason, winner)


class DocRules(NamedTuple):
    """The rules for a Doc."""

    spans: SpanRules = SpanRules()  # what they say about its spans
    matches: Tuple[RuleMatch, ...] = ()  # the words that have rules
    forced: Tuple[ForcedWord, ...] = ()  # those that are forced, and can be
    conflicts: Tuple[RuleConflict, ...] = ()  # rules that cannot be followed under any prediction

    def all_conflicts(self, found: Sequence[TagSpan], component: str) -> List[RuleConflict]:
        """The rules that could not be followed, and the forced words that lost to others in a path with these spans."""
        conflicts = list(self.conflicts)
        if self.forced:
            there = set(found)
            winners = [forced.match for forced in self.forced if not there.isdisjoint(forced.spans)]
            winners.sort(key=lambda match: match.end)  # different ones do not overlap
            ends = [match.end for match in winners]
            for match, rule, spans in self.forced:
                if there.isdisjoint(spans):
                    winner = winners[bisect_right(ends, match.start)].word  # the first that ends after it begins
                    conflicts.append(_conflict(match, rule, OVERLAP, winner))
        return [conflict._replace(component=component) for conflict in conflicts]


NO_RULES = DocRules()


def find_rule_matches(
    docs: Sequence[Doc], matchers: Sequence[Optional[Matcher]], reader: RuleReader
) -> List[List[RuleMatch]]:
    """Find the words of Docs whose rules concern a component, ordered by start, then by length. `matchers` holds the
    lexicon state of each Doc. A word that begins or ends inside of a Latin word or a number (AI in PAID, 5 in 15)
    counts if both the match options (`inside_latin`) and the component allow it."""
    found: List[List[RuleMatch]] = [[] for _ in docs]
    for matcher in {id(matcher): matcher for matcher in matchers}.values():
        if matcher is not None and matcher.lexicon.has_rules:
            own = [i for i, other in enumerate(matchers) if other is matcher]
            cuts_latin = reader.cuts_latin and matcher.options.inside_latin == "all"
            for i, words in zip(own, find_occurrences(matcher.lexicon, [docs[i].text for i in own])):
                found[i] = _on_tokens(docs[i], words, reader, cuts_latin)
    return found


def apply_rules(
    doc: Doc,
    matches: Sequence[RuleMatch],
    label_ids: Callable[[Rule], Sequence[int]],
    find_kept: Callable[[RuleMatch, Rule], str],
) -> DocRules:
    """Turn the rules of words into rules about spans. `label_ids` gives the labels that a rule is about; `find_kept`
    the text of what is kept and contradicts a rule, or ""."""
    forced: List[ForcedWord] = []
    weights: Dict[TagSpan, float] = {}
    conflicts: List[RuleConflict] = []
    for match in matches:
        for rule in match.rules:
            if not match.aligned:
                if rule.mode == FORCE:
                    conflicts.append(_conflict(match, rule, CUTS_TOKENS, doc[match.start : match.end].text))
            elif kept := find_kept(match, rule):
                conflicts.append(_conflict(match, rule, KEPT, kept))
            else:
                spans = tuple(TagSpan(match.start, match.end, label) for label in label_ids(rule))
                if rule.mode == FORCE:
                    forced.append(ForcedWord(match, rule, spans))
                else:
                    change = rule.weight if rule.mode == PREFER else NEVER
                    weights.update({span: weights.get(span, 0.0) + change for span in spans})
    forced_spans = tuple(span for each in forced for span in each.spans)
    return DocRules(SpanRules(forced_spans, weights), tuple(matches), tuple(forced), tuple(conflicts))


def raise_for_rules(error: NoPathError, texts: Sequence[str], rules: Sequence[DocRules], component: str) -> None:
    """If rules leave Docs without a path, raise a ValueError for the first such Doc that has rules, and name these."""
    for i in error.docs:
        if rules[i].matches:
            forbidden = [
                f.match for f in rules[i].forced if all(rules[i].spans.weights.get(s) == NEVER for s in f.spans)
            ]
            words = {match.word: match for match in forbidden or rules[i].matches if match.aligned}
            named = [f"{word!r} has the rules {', '.join(map(str, m.rules))}" for word, m in sorted(words.items())]
            more = f"; and {len(named) - MAX_NAMED} more words" if len(named) > MAX_NAMED else ""
            raise ValueError(
                f"{component}: no analysis of {texts[i][:40]!r} follows the rules of its words: "
                f"{'; '.join(named[:MAX_NAMED])}{more}. Correct them with add_rules of the lex_matcher, or in the "
                "dictionary file, and call its reload()."
            ) from None


def _on_tokens(doc: Doc, occurrences: List[Occurrence], reader: RuleReader, cuts_latin: bool) -> List[RuleMatch]:
    rules = [tuple(rule for rule in each.rules if reader.concerns(rule)) for each in occurrences]
    kept = [(each.start, each.end, own) for each, own in zip(occurrences, rules) if own]
    if not kept:
        return []
    text = doc.text
    starts, ends = np.array([each[:2] for each in kept], "i8").T
    fits = np.full(len(kept), cuts_latin) | ~is_unbreakable(text, np.stack([starts, ends])).any(0)
    token_starts, token_ends = token_borders(doc)
    first, last = np.searchsorted(token_ends, starts, "right"), np.searchsorted(token_starts, ends, "left")
    aligned = fits & (token_starts[first] == starts) & (token_ends[last - 1] == ends)
    return [
        RuleMatch(*kept[i][:2], int(first[i]), int(last[i]), bool(aligned[i]), text[slice(*kept[i][:2])], kept[i][2])
        for i in np.flatnonzero(fits).tolist()
    ]


def _conflict(match: RuleMatch, rule: Rule, reason: str, winner: str) -> RuleConflict:
    return RuleConflict(match.word, str(rule), match.start_char, match.end_char, reason, winner)
