"""Fuzzing: valid inputs with a few mutations, tried for as long as the budget allows.

`LEXNER_FUZZ_SECONDS=3600 python -m pytest --timeout=0 tests/fuzz` searches for an hour. The sequence of inputs is the
same in each run; the budget only determines how far it goes, and a failure shows the smallest failing input.
"""

import copy
import json
import os
import time
import warnings
from contextlib import contextmanager
from itertools import count
from typing import Any, Callable, Iterable, Iterator, Sequence, Tuple, Type

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

SECONDS = float(os.environ.get("LEXNER_FUZZ_SECONDS", 40))  # for all targets together
N_TARGETS = 37  # that share them
ROUND = 10 if SECONDS < 600 else 200  # inputs from one seed
SLOWEST = 20  # seconds of the processor for an input of a few thousand bytes: more is a hang
LONGEST = 2000  # characters of an error: whole values are not quoted
ENCODED = "\ufeff\u3000\u2028\u0085\u0301\u200d\ufffd京😀，²१"
PIECES = [
    *(b"\0", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\n", b"\n\n", b"\t", b" ", b"\\", b'"', b"'", b"|", b">"),
    *(b"-", b"-1", b"1e999", b"NaN", b"Infinity", b"9" * 5000, b"0x1", b"1_0", b"null", b"true", b"{}", b"[" * 3000),
    *(b"{", b"}", b"[", b"]", b",", b":", b"# ", b"%", b"&a *a", b"!!python/object:a", b"\\ud800", b"B-", b"S-X", b"O"),
    *("京".encode() * 300, b"a" * 9000),
    *(character.encode() for character in ENCODED),
]
VALUES = [
    *(None, True, False, -1, 0, 1, 3, 2.5, 1e400, float("nan"), 2**31, 2**63, 2**70, -(2**63), "", " ", "南京", "\0"),
    *("\ud800", "a" * 3000, [], {}, [[]], [None], {"text": 1}, {"": None}, [0, 2, "X"], [[0, 1]], ["南"]),
    [{"start": 0}],
]
# What msgpack can represent: no integers of more than 64 bits, no surrogates.
PACKABLE = [*(value for value in VALUES if value not in (2**70, "\ud800")), b"", b"\0" * 16]


def fuzz(check: Callable[[Any], None], inputs: st.SearchStrategy[Any], found: Iterable[Any] = ()) -> None:
    """Try inputs on a target for its share of SECONDS.

    check (Callable[[Any], None]): The target, which raises an error on failure.
    inputs (SearchStrategy[Any]): The inputs to try.
    found (Iterable[Any]): Inputs that failed once, tried first.
    """
    for data in found:
        check(data)
    limits = settings(
        max_examples=ROUND,
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
    )

    def run(data: Any) -> None:
        begin = time.process_time()
        check(data)
        assert time.process_time() - begin < SLOWEST

    end = time.monotonic() + SECONDS / N_TARGETS
    for number in count():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # of long inputs, when one is shown
            seed(number)(limits(given(inputs)(run)))()
        if time.monotonic() > end:
            break


@contextmanager
def only(*errors: Type[Exception]) -> Iterator[None]:
    """Allow only these errors, with a message that can be shown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except errors as error:
        message = str(error)
        assert type(error) in errors, f"{type(error).__name__}: {message[:200]}"  # no subclass, such as UnicodeError
        assert message and len(message) < LONGEST, f"{len(message)} characters: {message[:200]}"
        message.encode("utf8")


@st.composite
def changed_bytes(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the inputs, with up to five stretches replaced: by one of PIECES, by random bytes, or by a double copy."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12) | st.integers(0, len(data))))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=6) | st.just(2 * data[start:end]) | st.just(b""))
        data = data[:start] + piece + data[end:]
    return data


@st.composite
def changed_value(draw: st.DrawFn, seeds: Sequence[Any], values: Sequence[Any] = VALUES) -> Any:
    """One of the values, made of lists and dicts, with one to three parts replaced, removed, doubled or moved."""
    root = [copy.deepcopy(draw(st.sampled_from(seeds)))]
    for _ in range(draw(st.integers(1, 3))):
        parent, key = draw(st.sampled_from(list(places(root))))
        action = draw(st.sampled_from(["replace", "replace", "remove", "double", "move"]))
        other, place = draw(st.sampled_from(list(places(root))))
        if action == "remove" and parent is not root:
            del parent[key]
        elif action == "double" and isinstance(parent, list) and parent is not root:
            parent.insert(key, copy.deepcopy(parent[key]))
        elif action == "move" and other is not root:
            other[place] = copy.deepcopy(parent[key])
        else:
            parent[key] = copy.deepcopy(draw(st.sampled_from(values)))
    return root[0]


def changed_json(seeds: Sequence[bytes], *, by_lines: bool) -> st.SearchStrategy[bytes]:
    """Inputs that are a JSON value, or one per line, with parts of the values mutated."""
    values = [json.loads(b"[%s]" % b",".join(data.splitlines()) if by_lines else data) for data in seeds]
    return st.builds(_write, changed_value(values), st.booleans(), st.just(by_lines))


def _write(value: Any, escaped: bool, by_lines: bool) -> bytes:
    items = value if by_lines and isinstance(value, list) else [value]
    return "\n".join(json.dumps(item, ensure_ascii=escaped) for item in items).encode("utf8", "surrogatepass")


def places(value: Any) -> Iterator[Tuple[Any, Any]]:
    """Every place in nested lists and dicts: the container, and the index or key."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])
