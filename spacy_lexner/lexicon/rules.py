"""Rules for the occurrences of a word, which constrain the model's predictions.

hint     no constraint: the word is evidence for the encoder, like every word of a lexicon
force    they are spans of that label
forbid   they are not spans of that label, or of any
prefer   a weight is added to the score of every path that has exactly this span with that label
"""

import json
from functools import lru_cache
from math import isfinite
from numbers import Real
from typing import Any, Dict, FrozenSet, Iterable, Mapping, NamedTuple, Sequence, Tuple

from .errors import LexiconError
from .limits import quote

HINT, FORCE, FORBID, PREFER = MODES = ("hint", "force", "forbid", "prefer")
MAX_WEIGHT = 1000.0  # as good as certain, and sums of weights stay exact


class Rule(NamedTuple):
    """One rule of a word."""

    mode: str  # "hint", "force", "forbid" or "prefer"
    label: str = ""  # of the spans
    weight: float = 0.0  # of "prefer": added to the score, in natural log odds; negative to make the span less likely

    def __str__(self) -> str:
        weight = f"{self.weight:g}" if self.mode == PREFER else ""
        return " ".join(filter(None, (self.mode, self.label, weight)))


class WordRule(NamedTuple):
    """A word and one of its rules: a row of a dictionary file."""

    word: str
    mode: str = HINT
    label: str = ""
    weight: float = 0.0


Rules = Tuple[Rule, ...]
HINT_ONLY: Rules = (Rule(HINT),)


def find_rule_fault(rule: Rule) -> str:
    """Describe what is wrong with a rule, and what was expected; empty for a valid rule."""
    if not isinstance(rule, (list, tuple)) or len(rule) != len(Rule._fields):
        return f"{quote(rule)} is not a rule; expected mode, label and weight, such as Rule('force', 'GPE')"
    mode, label, weight = rule
    if mode not in MODES:
        return f"the mode is {quote(mode)}; expected one of {', '.join(MODES)}"
    if not isinstance(label, str) or label != label.strip() or not label.isprintable():
        return f"the label is {quote(label)}; expected a name without white space around it"
    if not isinstance(weight, Real) or not isfinite(weight):
        return f"the weight is {quote(weight)}; expected a finite number"
    if abs(weight) > MAX_WEIGHT:
        return f"the weight is {weight:g}; expected at most {MAX_WEIGHT:g} (or use force or forbid)"
    if mode == PREFER and not weight:
        return "prefer needs a weight other than 0, such as 2"
    if mode != PREFER and weight:
        return f"{mode} takes no weight, but has {weight:g}; only prefer does"
    if mode == HINT and label:
        return f"hint takes no label, but has {quote(label)}"
    return ""


def are_rules(rules: Iterable[Rule]) -> bool:
    try:
        normal_rules(rules)
    except LexiconError:
        return False
    return True


def normal_rules(rules: Iterable[Rule]) -> Rules:
    """Sort rules, and drop duplicates and hints. Raises LexiconError for an invalid rule."""
    rules = tuple(rules)
    try:
        return _normal(rules)
    except TypeError:  # not hashable, so not a rule
        return _normal.__wrapped__(rules)


def join_rules(first: Mapping[str, Rules], second: Mapping[str, Rules]) -> Dict[str, Rules]:
    """RETURNS (Dict[str, Rules]): The words of both, each with all its rules."""
    return {**first, **{word: normal_rules((*first.get(word, ()), *rules)) for word, rules in second.items()}}


@lru_cache(maxsize=4096)
def _normal(rules: Rules) -> Rules:
    checked = {Rule(mode, label, float(weight)) for mode, label, weight in map(_checked, rules)}
    return tuple(sorted(rule for rule in checked if rule.mode != HINT))


def _checked(rule: Rule) -> Rule:
    fault = find_rule_fault(rule)
    if fault:
        raise LexiconError(f"Invalid rule: {fault}.")
    return rule


@lru_cache(maxsize=4096)
def pack_rules(rules: Rules) -> str:
    """Write rules in normal form as a string; empty if there are none."""
    return json.dumps(rules, ensure_ascii=False, separators=(",", ":")) if rules else ""


@lru_cache(maxsize=4096)
def unpack_rules(text: str) -> Rules:
    """Read rules written by `pack_rules`. Raises LexiconError for any other text."""
    if not text:
        return ()
    try:
        return normal_rules([Rule(*row) for row in json.loads(text)])
    except (ValueError, TypeError) as error:
        raise LexiconError(f"The rules of the lexicon are damaged: {quote(text)} ({error}).") from None


class RuleReader(NamedTuple):
    """Which rules apply to a component: those with one of its labels, and some without a label."""

    name: str  # of the component
    labels: FrozenSet[str]  # of the component
    unlabelled: FrozenSet[str]  # the modes in which rules without a label apply to it
    only_forced: FrozenSet[str] = frozenset()  # further labels, for rules of the mode "force" only
    any_label: str = ""  # the label in a rule that means all labels; empty if there is none
    cuts_latin: bool = False  # whether rules may apply inside a Latin word, if the matching options allow it

    def concerns(self, rule: Rule) -> bool:
        """Whether a rule applies to the component."""
        if not rule.label:
            return rule.mode in self.unlabelled
        if rule.label in self.labels or rule.label == self.any_label:
            return True
        return rule.mode == FORCE and rule.label in self.only_forced

    def label(self, rule: Rule) -> str:
        """The label of a rule that applies to the component; empty for all labels."""
        return "" if rule.label == self.any_label else rule.label

    def contradiction(self, rules: Rules) -> str:
        """Which rules of one word contradict each other for this component; empty if none do."""
        own = [rule for rule in rules if self.concerns(rule)]
        for i, first in enumerate(own):
            for second in own[i + 1 :]:
                if _contradict(*(rule._replace(label=self.label(rule)) for rule in (first, second))):
                    return f"{first} and {second}"
        return ""


def _contradict(first: Rule, second: Rule) -> bool:
    """Whether two different rules of a word cannot both be followed. Rules of one mode may have different labels unless
    a span would get two."""
    if first.mode == second.mode:
        return first.mode == FORCE or (first.mode == PREFER and first.label == second.label)
    return any(
        one.mode == FORBID and one.label in ("", other.label) for one, other in ((first, second), (second, first))
    )


def check_rules(word: str, rules: Rules, readers: Sequence[RuleReader]) -> None:
    """Raise LexiconError for rules of a word that contradict each other or apply to none of the components that follow
    rules (`readers`). If the pipeline has no such component, any rule is accepted."""
    for rule in rules:
        if readers and rule.mode != HINT and not any(reader.concerns(rule) for reader in readers):
            known = "; ".join(map(_describe, readers))
            raise LexiconError(
                f"The rule '{rule}' of {quote(word)} applies to no component: {known}. Correct the label, or add it to "
                "a component (add_label, or rule_labels in the config of lex_ner)."
            )
    for reader in readers:
        contradiction = reader.contradiction(rules)
        if contradiction:
            raise LexiconError(f"The rules of {quote(word)} contradict each other ({reader.name}): {contradiction}.")


def _describe(reader: RuleReader) -> str:
    text = f"{reader.name} has the labels {_listed(reader.labels)}"
    if reader.only_forced:
        text += f", and for force {_listed(reader.only_forced)}"
    if reader.any_label:
        text += f", and {reader.any_label} for any of them"
    return text + (f" (without a label: {_listed(reader.unlabelled)})" if reader.unlabelled else "")


def _listed(labels: Iterable[Any]) -> str:
    return ", ".join(sorted(labels)) or "none"
