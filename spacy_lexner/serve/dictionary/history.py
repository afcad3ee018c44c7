"""The history of a dictionary: its latest changes, with the values of words before and after each."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Deque, Dict, Iterator, List, Mapping, Optional

from .words import Overlay, Value, get_value, set_values

MAX_CHANGES = 1000
MAX_WORDS = 200_000  # of all changes together; the latest change is kept whatever its size
MAX_NAMED = 20


@dataclass(frozen=True)
class Change:
    """A change of a dictionary."""

    number: int
    kind: str  # "add_words", "remove_words", "add_rules", "remove_rules", "upload_words", "upload_rules", "undo"
    time: str  # UTC, ISO 8601
    before: Mapping[str, Value]  # the values of its words before the change
    after: Mapping[str, Value]
    version_before: str
    version_after: str
    undoes: Optional[int] = None  # the change that it undoes

    def to_record(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The change as a record of the journal."""
        return {**self.__dict__, "before": dict(self.before), "after": dict(self.after)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Change":
        """RETURNS (Change): The change of a record from `to_record`."""
        return cls(**record)


class History:
    """The latest changes, and the state after all changes ever made."""

    def __init__(self, overlay: Optional[Overlay] = None, number: int = 0) -> None:
        """overlay (Dict[str, Value]): The state to which changes will be added.
        number (int): The number of the last change in that state.
        """
        self.overlay: Overlay = {} if overlay is None else overlay
        self.number = number
        self._changes: Deque[Change] = deque()
        self._n_words = 0

    def __iter__(self) -> Iterator[Change]:
        return iter(list(self._changes))  # another thread may add to it

    def add(self, change: Change) -> None:
        """Add a change that has been made."""
        set_values(self.overlay, change.after)
        self.remember(change)

    def remember(self, change: Change) -> None:
        """Add a change that is already part of the state."""
        self.number = change.number
        self._changes.append(change)
        self._n_words += len(change.after)
        while len(self._changes) > 1 and (len(self._changes) > MAX_CHANGES or self._n_words > MAX_WORDS):
            self._n_words -= len(self._changes.popleft().after)

    @property
    def undone(self) -> Dict[int, int]:
        """RETURNS (Dict[int, int]): The changes that are undone, each with the change that undid it."""
        undone: Dict[int, int] = {}
        for change in reversed(list(self._changes)):  # an undo that is itself undone has no effect
            if change.undoes is not None and change.number not in undone:
                undone.setdefault(change.undoes, change.number)
        return undone

    def find(self, number: Optional[int]) -> Optional[Change]:
        """RETURNS (Optional[Change]): The change of that number; for None the last one that can still be undone."""
        undone = self.undone
        for change in reversed(self._changes):
            if change.number == number or (number is None and change.kind != "undo" and change.number not in undone):
                return change
        return None

    def changed_since(self, change: Change) -> List[str]:
        """RETURNS (List[str]): The words of a change whose values have changed since."""
        return [word for word, value in change.after.items() if get_value(self.overlay, word) != value]

    def state_at(self, place: str) -> Optional[Overlay]:
        """RETURNS (Optional[Overlay]): The state at a version, or after the change of that number; None if unknown."""
        overlay = dict(self.overlay)
        for change in reversed(self._changes):
            if place in (change.version_after, str(change.number)):
                return overlay
            set_values(overlay, change.before)
            if place in (change.version_before, str(change.number - 1)):
                return overlay
        return None

    def describe(self, change: Change) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): A change as clients see it."""
        return {
            "number": change.number,
            "kind": change.kind,
            "time": change.time,
            "words": list(change.after)[:MAX_NAMED],
            "n_words": len(change.after),
            "undone": change.number in self.undone,
            "undoes": change.undoes,
            "version_before": change.version_before,
            "version_after": change.version_after,
        }
