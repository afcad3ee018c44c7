"""Limits on what is read, so that a small file cannot take all memory or endless time, nor a value flood the screen.

They can be raised for trusted files: `LEXNER_LIMITS="unpacked=100000000000,ratio=2000" python -m spacy lexner ...`.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, BinaryIO, Callable, Dict, Iterable, List, Type, cast

VARIABLE = "LEXNER_LIMITS"
LIMITS = {
    "unpacked": 20_000_000_000,  # bytes that a compressed file may hold
    "ratio": 200,  # of a compressed file; text reaches 20, repeated text 100
    "line": 64 << 20,  # bytes of a line, and of an object in a file that is one list
    "entry": 1 << 18,  # bytes of a line of a lexicon's source: twice what 8,192 dimensions take
    "yaml": 1 << 20,  # characters of a YAML document; parsing takes 80 times the memory
    "file": 1 << 30,  # bytes of a file that is read as a whole
    "entries": 100_000_000,  # words of a lexicon
    "nesting": 100,  # depth of nested lists and objects
    "digits": 18,  # of an integer that is a count or a position
}
FREE = 64 << 20  # bytes that may be unpacked whatever the ratio
QUOTED = 80


def limit(name: str) -> int:
    """RETURNS (int): A limit: that of the environment variable, or the default. Raises ValueError if the variable is
    invalid."""
    return _read_limits(os.environ.get(VARIABLE, ""))[name]


@lru_cache(maxsize=1)
def _read_limits(given: str) -> Dict[str, int]:
    limits = dict(LIMITS)
    for item in filter(None, given.split(",")):
        key, _, value = item.partition("=")
        if key.strip() not in LIMITS or not value.strip().isdecimal() or len(value) > QUOTED:
            expected = ",".join(f"{name}={value}" for name, value in LIMITS.items())
            raise ValueError(f"{VARIABLE}: {quote(item)} is not a limit. The limits and their defaults are {expected}")
        limits[key.strip()] = int(value)
    return limits


def exceeded(name: str, what: str) -> str:
    """RETURNS (str): The message about something over a limit. `what` ends in a comparative, such as "more words"."""
    return (
        f"{what} than the limit '{name}' allows ({limit(name)}). If the file is correct, raise the limit: "
        f"{VARIABLE}={name}=NUMBER"
    )


def to_int(digits: str) -> int:
    """RETURNS (int): The value of decimal digits. Raises ValueError if there are too many."""
    if len(digits) > limit("digits"):
        raise ValueError(exceeded("digits", f"{quote(digits)} has more digits"))
    return int(digits)


def check_nesting(value: Any) -> None:
    """Raise ValueError for lists and dicts that are nested too deeply."""
    level = _nested([value])
    for _ in range(limit("nesting")):
        level = [part for each in level for part in _nested(each.values() if isinstance(each, dict) else each)]
    if level:
        raise ValueError(too_deep())


def too_deep() -> str:
    """RETURNS (str): The message about lists and objects that are nested too deeply."""
    return f"{exceeded('nesting', 'lists and objects are nested more deeply')}, up to about 900, Python's own limit"


def _nested(values: Iterable[Any]) -> List[Any]:
    return [value for value in values if isinstance(value, (dict, list))]


def quote(value: Any) -> str:
    """RETURNS (str): A value for an error message: its repr, cut to QUOTED characters."""
    shown = repr(value[: 2 * QUOTED] if isinstance(value, (str, bytes)) else value)
    return shown if len(shown) <= QUOTED else f"{shown[: QUOTED - 1]}…"


def shorten(text: str) -> str:
    """RETURNS (str): A text for display, without quotes: cut to QUOTED characters, lone surrogates escaped."""
    shown = text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"
    return shown.encode("utf8", "backslashreplace").decode("utf8")


class Unpacking:
    """A stream of decompressed bytes that raises an error once there are too many."""

    def __init__(self, stream: IO[bytes], name: str, packed: int, error: Type[Exception]) -> None:
        """packed (int): Bytes of the compressed file. error (Type[Exception]): What to raise, with the `name`."""
        self._stream, self._name, self._packed, self._error = stream, name, packed, error
        self._most = min(limit("unpacked"), max(FREE, limit("ratio") * packed))
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        return self._checked(self._stream.read(self._most + 1 if size < 0 else size))

    def readline(self, size: int = -1) -> bytes:
        return self._checked(self._stream.readline(size))

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _checked(self, data: bytes) -> bytes:
        self._count += len(data)
        if self._count > self._most:
            name = "unpacked" if self._count > limit("unpacked") else "ratio"
            what = "it unpacks to more bytes" if name == "unpacked" else f"{self._packed} bytes unpack to more"
            raise self._error(f"{self._name}: {exceeded(name, what)}")
        return data

    def __enter__(self) -> "Unpacking":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unpack(opener: Callable[..., Any], path: Path, error: Type[Exception]) -> BinaryIO:
    """Open a compressed file as a stream of bytes, under the limits."""
    return cast(BinaryIO, Unpacking(opener(path, "rb"), str(path), path.stat().st_size, error))
