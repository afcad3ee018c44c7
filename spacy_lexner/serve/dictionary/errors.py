"""Errors by which changes to the dictionary are refused."""

from typing import Sequence

from ...lexicon.errors import LexiconError


class ContradictionError(LexiconError):
    """Two rules of a word cannot both be followed."""

    def __init__(self, word: str, rules: Sequence[str], component: str) -> None:
        super().__init__(
            f"The rules of {word!r} contradict each other ({component}): {rules[0]} and {rules[1]}. Remove one of "
            "them, or let the new one replace all rules of the word."
        )
        self.word = word
        self.rules = tuple(rules)


class UnknownError(LexiconError):
    """A word, a change or a version does not exist."""


class ChangedSinceError(LexiconError):
    """A change cannot be undone, since later ones affect the same words."""

    def __init__(self, number: int, words: Sequence[str]) -> None:
        super().__init__(
            f"Change {number} cannot be undone: later changes affect the same words ({', '.join(words[:5])}). Undo "
            "those first."
        )
        self.words = tuple(words)


class StateError(Exception):
    """The state directory cannot be used. The message names the fault and the remedy."""
