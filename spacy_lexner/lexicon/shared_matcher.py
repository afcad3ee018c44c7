"""The cell through which a pipeline's components share the lexicon."""

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

from .matcher import Matcher

REMEMBERED = 8
# What a thread sees of sources that it has pinned, by their identity.
_PINNED: ContextVar[Mapping[int, Tuple[Matcher, ...]]] = ContextVar("_PINNED", default={})  # noqa: B039 (never changed)


class SharedMatcher:
    """Holds the current Matcher and the last few before it. Safe to read and to set from any thread; a reader sees
    one Matcher or the other, never a mixture. A copy of a model keeps the same source."""

    def __init__(self, matcher: Optional[Matcher] = None) -> None:
        """Create a source.

        matcher (Optional[Matcher]): The first Matcher, if there is one yet.
        """
        self._lock = threading.Lock()
        self._matchers: Tuple[Matcher, ...] = () if matcher is None else (matcher,)  # the newest first

    @property
    def _seen(self) -> Tuple[Matcher, ...]:
        return _PINNED.get().get(id(self), self._matchers)

    @property
    def matcher(self) -> Optional[Matcher]:
        """RETURNS (Optional[Matcher]): The current Matcher."""
        matchers = self._seen
        return matchers[0] if matchers else None

    def set(self, matcher: Matcher) -> None:
        """Put a Matcher in the place of the current one, which is remembered for Docs already matched with it.

        matcher (Matcher): The new Matcher.
        """
        with self._lock:
            others = (known for known in self._matchers if known.version != matcher.version)
            self._matchers = (matcher, *others)[:REMEMBERED]

    def get(self, version: int) -> Optional[Matcher]:
        """Find the Matcher that a Doc was matched with.

        version (int): Its version.
        RETURNS (Optional[Matcher]): The Matcher; None if it is not among the last eight.
        """
        for matcher in self._seen:
            if matcher.version == version:
                return matcher
        return None

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Let this thread see the source as it is now, whatever others set meanwhile."""
        token = _PINNED.set({**_PINNED.get(), id(self): self._seen})
        try:
            yield
        finally:
            _PINNED.reset(token)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "SharedMatcher":
        return self

    def __getstate__(self) -> Dict[str, Any]:
        return {"matchers": self._matchers[:1]}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self._matchers = state["matchers"]
