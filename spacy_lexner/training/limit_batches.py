"""`spacy-lexner.limit_batches.v1`: epochs of a fixed number of updates."""

from itertools import islice
from typing import Callable, Generic, Iterable, Iterator, List, TypeVar

ItemT = TypeVar("ItemT")


def create_limited_batcher(
    batcher: Callable[[Iterable[ItemT]], Iterable[List[ItemT]]], n_batches: int
) -> "LimitedBatcher[ItemT]":
    """Create a batcher that stops early, so that an epoch of `spacy pretrain`, after which it saves, is a number of
    updates. The corpus should be shuffled: each epoch reads its beginning.

    batcher (Callable[[Iterable[ItemT]], Iterable[List[ItemT]]]): The batcher whose batches are counted.
    n_batches (int): The most batches of one epoch; 0 for all.
    RETURNS (LimitedBatcher): The batcher.
    """
    if n_batches < 0:
        raise ValueError(f"n_batches is {n_batches}: it must be at least 0 (0 means no limit).")
    return LimitedBatcher(batcher, n_batches)


class LimitedBatcher(Generic[ItemT]):
    """Gives the first batches of another batcher. See `create_limited_batcher`."""

    def __init__(self, batcher: Callable[[Iterable[ItemT]], Iterable[List[ItemT]]], n_batches: int) -> None:
        self.batcher = batcher
        self.n_batches = n_batches

    def __call__(self, items: Iterable[ItemT]) -> Iterator[List[ItemT]]:
        """Make batches.

        items (Iterable[ItemT]): The items.
        YIELDS (List[ItemT]): The batches.
        """
        return islice(iter(self.batcher(items)), self.n_batches or None)
