"""Two independent computations at once, each on a core of its own."""

import os
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Callable, Iterator, Optional, Tuple, TypeVar

import torch

T = TypeVar("T")


@contextmanager
def second_core(wanted: bool) -> Iterator[Optional[Executor]]:
    """Give another thread where torch may use several. Within, torch computes on one core in each of the two: threads
    of its own would wait in a busy loop on the core that the other one needs. (A thread that someone else starts
    meanwhile is left with one core by torch, too.)

    wanted (bool): Whether to give one.
    YIELDS (Optional[Executor]): Makes one call after the other, without gradients; None if there is none.
    """
    n_threads = torch.get_num_threads()
    if not wanted or n_threads == 1:
        yield None
        return
    torch.set_num_threads(1)
    try:
        yield _worker()
    finally:
        torch.set_num_threads(n_threads)


def both(one: Callable[[], T], other: Callable[[], T], executor: Optional[Executor]) -> Tuple[T, T]:
    """Make two calls, at once where there is another thread.

    one, other (Callable[[], T]): The calls. An error of either is raised, that of the first one first.
    executor (Optional[Executor]): From `second_core`.
    RETURNS (Tuple[T, T]): What they return.
    """
    if executor is None:
        return one(), other()
    pending = executor.submit(other)
    try:
        result = one()
    finally:
        pending.exception()  # what it reads and writes may be gone afterwards
    return result, pending.result()


@cache
def _worker() -> Executor:
    """A thread that waits for the next prediction: to start one takes longer than a layer of a few words."""
    return ThreadPoolExecutor(1, initializer=_keep_to_one_core)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_worker.cache_clear)  # a forked process has no thread but the one that forked


def _keep_to_one_core() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
