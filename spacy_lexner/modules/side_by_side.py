"""Two independent computations at once, each on a core of its own."""

from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Tuple, TypeVar

import torch

T = TypeVar("T")


@contextmanager
def second_core(wanted: bool) -> Iterator[Optional[Executor]]:
    """Give another thread where torch may use several. Within, torch computes on one core in each of the two: threads
    of its own would wait in a busy loop on the core that the other one needs. (A thread that someone else starts
    meanwhile is left with one core by torch, too.)

    wanted (bool): Whether to give one.
    YIELDS (Optional[Executor]): Makes one call after the other, without gradients; None if there is none. It ends with
        the context: a thread that lived on would be missing in a forked process.
    """
    n_threads = torch.get_num_threads()
    if not wanted or n_threads == 1:
        yield None
        return
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(1, initializer=_keep_to_one_core) as executor:
            yield executor
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


def _keep_to_one_core() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
