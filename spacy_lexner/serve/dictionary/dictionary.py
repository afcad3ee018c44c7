"""The dictionary of a service, which can be changed while texts are annotated, without losing a change."""

import logging
import threading
from datetime import datetime, timezone
from typing import Dict, Mapping, NamedTuple, Optional, Tuple

from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import Matcher
from ...pipeline.lexicon_pipe import LexiconPipe
from .edits import Edit, edit_words
from .errors import ChangedSinceError, UnknownError
from .history import Change, History
from .state import StateDirectory
from .words import Overlay, Value, get_value, resolve, to_entry

logger = logging.getLogger(__name__)


class Trial(NamedTuple):
    """The current dictionary, and the one that an edit would make of it."""

    before: Matcher
    after: Matcher


class Dictionary:
    """The lexicon of a `lex_matcher`, the changes made to it at run time, and the directory that keeps them.

    A change is checked, written to the disk, and only then put into use. Readers never wait: they see the lexicon
    before or after it. Every change builds on the one before, whichever thread it comes from.

    torn_bytes (int): Bytes of an incomplete record that was dropped at the start.
    """

    def __init__(self, pipe: LexiconPipe, state: Optional[StateDirectory] = None) -> None:
        """Apply the changes kept in the directory. Raises LexiconError if one does not fit the model."""
        self._changing = threading.RLock()
        self._state = state
        self.torn_bytes = 0 if state is None else state.torn_bytes
        self.history = History() if state is None else _read_history(state)
        self.pipe, self.base = pipe, pipe.lexicon
        self.use_model(pipe)
        if self.torn_bytes:
            logger.warning(
                "The last record of the journal was incomplete (%d bytes) and was dropped: the service was stopped "
                "during a change, before the client was told that it had been made.",
                self.torn_bytes,
            )

    # State

    @property
    def matcher(self) -> Matcher:
        """RETURNS (Matcher): The current dictionary. It is immutable; a change makes a new one."""
        return self.pipe.matcher

    @property
    def version(self) -> str:
        """RETURNS (str): The `doc._.lex_version` of Docs annotated now."""
        return self.pipe.version

    @property
    def broken(self) -> str:
        """RETURNS (str): Why changes can no longer be kept; empty if all is well."""
        return "" if self._state is None else self._state.broken

    def lexicons(self, start: str, end: str) -> Tuple[Lexicon, Lexicon]:
        """RETURNS (Tuple[Lexicon, Lexicon]): Two small lexicons with the words that differ between two states, as they
        are in each. A state is a version or the number of a change; an empty `start` is the model's own state, an
        empty `end` the current one. Raises UnknownError for a state that is not in the history."""
        with self._changing:
            old: Overlay = self._state_at(start) if start else {}
            new = self._state_at(end) if end else dict(self.history.overlay)
            base = self.base
        words = [word for word in {**old, **new} if get_value(old, word) != get_value(new, word)]
        sides = ([to_entry(base, word, get_value(state, word)) for word in words] for state in (old, new))
        return tuple(  # type: ignore[return-value]
            Lexicon.from_entries(
                [entry for entry in side if entry is not None],
                normalization=base.normalization,
                max_word_length=base.max_word_length,
            )
            for side in sides
        )

    def _state_at(self, place: str) -> Overlay:
        if place == self.version:  # since the model was loaded again, perhaps no longer that of any change
            return dict(self.history.overlay)
        found = self.history.state_at(place)
        if found is None and place in ("0", self.base_version):
            return {}
        if found is None:
            raise UnknownError(
                f"There is no version or change {place!r} in the history. GET /changes lists what there is."
            )
        return found

    # Changes

    def change(self, kind: str, edit: Edit) -> Optional[Change]:
        """Make a change that survives a crash. Raises LexiconError if it is invalid, OSError if it cannot be kept; in
        both cases nothing is changed.

        RETURNS (Optional[Change]): The change; None if there is nothing to change.
        """
        with self._changing:
            return self._change(kind, edit_words(self.pipe, edit))

    def undo(self, number: Optional[int] = None) -> Change:
        """Undo a change: its words become exactly what they were before it. Raises UnknownError if there is none,
        ChangedSinceError if later changes affect the same words.

        number (Optional[int]): The change; None: the last one that is not yet undone.
        """
        with self._changing:
            change = self.history.find(number)
            if change is None:
                raise UnknownError(
                    "There is nothing to undo." if number is None else f"There is no change {number} in the history."
                )
            if words := self.history.changed_since(change):
                raise ChangedSinceError(change.number, words)
            undone = self._change("undo", change.before, undoes=change.number)
            assert undone is not None  # a change is never empty, so neither is its undoing
            return undone

    def try_out(self, edit: Edit) -> Trial:
        """RETURNS (Trial): What an edit would change. Raises LexiconError if the edit is invalid."""
        with self._changing:
            dictionary = self.pipe.replace_words(*resolve(self.base, edit_words(self.pipe, edit)))
            return Trial(self.matcher, Matcher(dictionary.lexicon, self.pipe.options))

    def _change(self, kind: str, values: Mapping[str, Value], undoes: Optional[int] = None) -> Optional[Change]:
        if not values:
            return None
        before = {word: get_value(self.history.overlay, word) for word in values}
        dictionary = self.pipe.replace_words(*resolve(self.base, values))
        matcher = Matcher(dictionary.lexicon, self.pipe.options)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
        number, versions = self.history.number + 1, (self.version, f"{matcher.version:016x}")
        change = Change(number, kind, now, before, dict(values), *versions, undoes)
        if self._state is not None:
            self._state.append(change.to_record())
        self.pipe.use_words(dictionary)
        self.history.add(change)
        if self._state is not None and self._state.is_long:
            self._save_snapshot(self._state)
        return change

    # The model and the directory

    def use_model(self, pipe: LexiconPipe) -> None:
        """Apply all changes to the lexicon of another model, which becomes the dictionary. Raises LexiconError, and
        changes nothing here, if one does not fit it."""
        with self._changing:
            base, base_version = pipe.lexicon, pipe.version
            if self.history.overlay:
                pipe.use_words(pipe.replace_words(*resolve(base, self.history.overlay)))
            self.pipe, self.base, self.base_version = pipe, base, base_version

    def _save_snapshot(self, state: StateDirectory) -> None:
        changes = [change.to_record() for change in self.history]
        try:
            state.save_snapshot({"overlay": self.history.overlay, "changes": changes}, self.history.number)
        except OSError as error:  # the journal has everything
            logger.warning("No snapshot of the dictionary could be written: %s", error)

    def close(self) -> None:
        """Write a snapshot, and release the directory."""
        with self._changing:
            if self._state is not None:
                self._save_snapshot(self._state)
                self._state.close()


def _read_history(state: StateDirectory) -> History:
    snapshot: Dict = state.snapshot
    history = History(snapshot.get("overlay", {}))
    for record in snapshot.get("changes", ()):
        history.remember(Change.from_record(record))
    history.number = snapshot.get("last", 0)
    for record in state.records:
        history.add(Change.from_record(record))
    return history
