"""Why a change of the dictionary is refused."""

from typing import Sequence

from ...lexicon.errors import LexiconError


class ContradictionError(LexiconError):
    """Two rules of a word that cannot both be followed."""

    def __init__(self, word: str, rules: Sequence[str], component: str) -> None:
        super().__init__(
            f"The rules of {word!r} contradict each other ({component}): {rules[0]} and {rules[1]}. Remove one of "
            "them, or let the new one replace all rules of the word."
        )
        self.word = word
        self.rules = tuple(rules)


class UnknownError(LexiconError):
    """A word, a change or a version that does not exist."""


class ChangedSinceError(LexiconError):
    """A change cannot be undone, since later ones concern the same words."""

    def __init__(self, number: int, words: Sequence[str]) -> None:
        super().__init__(
            f"Change {number} cannot be undone: later changes concern the same words ({', '.join(words[:5])}). Undo "
            "these first."
        )
        self.words = tuple(words)


class StateError(Exception):
    """The state directory cannot be used: what is wrong with it, and the remedy."""
