"""The Matcher that the components of a pipeline share."""

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple
from weakref import WeakValueDictionary

from .matcher import Matcher

REMEMBERED = 8
# For each SharedMatcher that the current thread has pinned, by id: the matchers it sees.
_PINNED: ContextVar[Mapping[int, Tuple[Matcher, ...]]] = ContextVar("_PINNED", default={})  # noqa: B039 (never changed)
_IN_USE: "WeakValueDictionary[int, Matcher]" = WeakValueDictionary()  # by version


class SharedMatcher:
    """Holds the current Matcher and the REMEMBERED - 1 before it. Thread-safe: a reader sees one Matcher or another,
    never a mixture. Copies of a model share it."""

    def __init__(self, matcher: Optional[Matcher] = None) -> None:
        self._lock = threading.Lock()
        self._matchers: Tuple[Matcher, ...] = ()  # the newest first
        if matcher is not None:
            self.set(matcher)

    @property
    def _seen(self) -> Tuple[Matcher, ...]:
        return _PINNED.get().get(id(self), self._matchers)

    @property
    def matcher(self) -> Optional[Matcher]:
        matchers = self._seen
        return matchers[0] if matchers else None

    def set(self, matcher: Matcher) -> None:
        """Replace the current Matcher. The old one is kept for Docs that were matched with it."""
        with self._lock:
            others = (known for known in self._matchers if known.version != matcher.version)
            self._matchers = (matcher, *others)[:REMEMBERED]
        _IN_USE[matcher.version] = matcher

    def get(self, version: int) -> Optional[Matcher]:
        """The Matcher of that version; None if it is not among the last eight."""
        return next((matcher for matcher in self._seen if matcher.version == version), None)

    @contextmanager
    def pinned(self, matcher: Optional[Matcher] = None) -> Iterator[None]:
        """Within this context, the thread sees this Matcher only or, if None, the state at the start, whatever other
        threads set in the meantime."""
        if matcher is not None:
            _IN_USE[matcher.version] = matcher
        token = _PINNED.set({**_PINNED.get(), id(self): self._seen if matcher is None else (matcher,)})
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
        _IN_USE.update({matcher.version: matcher for matcher in self._matchers})


def find_matcher(version: int) -> Optional[Matcher]:
    """The Matcher of that version; None if no SharedMatcher of this process remembers it."""
    return _IN_USE.get(version)
