"""`spacy-lexner.batch_by_padded_tokens.v1`: batches of bounded padded size; `spacy-lexner.limit_batches.v1`: epochs of
a fixed number of updates; `spacy-lexner.share_batches.v1`: the share of one of several processes."""

import random
from itertools import islice
from typing import Callable, Generic, Iterable, Iterator, List, Optional, Sequence, TypeVar

from spacy.training import Example
from spacy.util import logger

ItemT = TypeVar("ItemT")


class PaddedBatcher(Generic[ItemT]):
    """Splits a stream into batches of items of similar length. The size of a batch, its longest length times its number
    of items, is at most `max_tokens`; a longer item is a batch of its own."""

    def __init__(
        self,
        max_tokens: int,
        buffer: int = 2048,
        shuffle: bool = True,
        seed: Optional[int] = None,
        discard_oversize: bool = False,
        get_length: Optional[Callable[[ItemT], int]] = None,
    ) -> None:
        """max_tokens (int): The largest batch, padding included.
        buffer (int): Number of items that are sorted by length together. A larger buffer pads less.
        shuffle (bool): Shuffle the batches of a buffer. Otherwise they come from short to long.
        seed (Optional[int]): Seed of the shuffling. By default Python's `random` is used, which spaCy seeds with
            `training.seed`.
        discard_oversize (bool): Leave out items larger than `max_tokens`. Their number is logged.
        get_length (Optional[Callable[[ItemT], int]]): The length of an item. By default the tokens of an Example's
            predicted Doc, and `len` of anything else.
        """
        for name, value in (("max_tokens", max_tokens), ("buffer", buffer)):
            if value < 1:
                raise ValueError(f"{name} of the batcher is {value}; expected at least 1.")
        self.max_tokens = max_tokens
        self.buffer = buffer
        self.shuffle = shuffle
        self.random = random.Random(seed) if seed is not None else None
        self.discard_oversize = discard_oversize
        self.get_length = get_length if get_length is not None else count_tokens

    def __call__(self, items: Iterable[ItemT]) -> Iterator[List[ItemT]]:
        """YIELDS (List[ItemT]): Batches of items, such as Docs or Examples, which are read one buffer at a time."""
        stream = iter(items)
        while buffered := list(islice(stream, self.buffer)):
            lengths = [self.get_length(item) for item in buffered]
            batches = pack_by_length(lengths, self.max_tokens)
            if self.discard_oversize:
                fitting = [batch for batch in batches if lengths[batch[0]] <= self.max_tokens]
                if len(fitting) < len(batches):
                    logger.info(
                        "%d items with more than %d tokens left out", len(batches) - len(fitting), self.max_tokens
                    )
                batches = fitting
            if self.shuffle:
                (self.random or random).shuffle(batches)  # type: ignore[union-attr]
            for batch in batches:
                yield [buffered[i] for i in batch]


def pack_by_length(lengths: Sequence[int], max_tokens: int) -> List[List[int]]:
    """Group items of similar length into batches whose longest length times number of items is at most `max_tokens`; a
    longer item is a batch of its own. Returns the indices of the items of each batch, from short to long."""
    batches: List[List[int]] = []
    batch: List[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and max(1, lengths[i]) * (len(batch) + 1) > max_tokens:
            batches.append(batch)
            batch = []
        batch.append(i)
    if batch:
        batches.append(batch)
    return batches


def count_tokens(item: object) -> int:
    """The number of tokens of an Example's predicted Doc, or `len` of anything else."""
    return len(item.predicted) if isinstance(item, Example) else len(item)  # type: ignore[arg-type]


class LimitedBatcher(Generic[ItemT]):
    """Yields the first batches of another batcher, so that an epoch of `spacy pretrain`, which saves after each epoch,
    is a fixed number of updates. The corpus should be shuffled, since each epoch reads its beginning."""

    def __init__(self, batcher: Callable[[Iterable[ItemT]], Iterable[List[ItemT]]], n_batches: int) -> None:
        """batcher (Callable[[Iterable[ItemT]], Iterable[List[ItemT]]]): The other batcher.
        n_batches (int): Maximum number of batches of an epoch; 0 for all.
        """
        if n_batches < 0:
            raise ValueError(f"n_batches is {n_batches}; expected at least 1, or 0 for no limit.")
        self.batcher = batcher
        self.n_batches = n_batches

    def __call__(self, items: Iterable[ItemT]) -> Iterator[List[ItemT]]:
        return islice(iter(self.batcher(items)), self.n_batches or None)


class SharedBatcher(Generic[ItemT]):
    """Yields every n-th batch of another batcher: the share of one of the processes that train together. Remaining
    batches at the end are left out, so that all processes make the same number of updates. They must read the same
    batches: same corpus, same seed."""

    def __init__(self, batcher: Callable[[Iterable[ItemT]], Iterable[List[ItemT]]], n: int = 1, share: int = 0) -> None:
        """batcher (Callable[[Iterable[ItemT]], Iterable[List[ItemT]]]): The other batcher.
        n (int): The number of processes.
        share (int): The number of this process, from 0.
        """
        if not 0 <= share < n:
            raise ValueError(f"share is {share}, n is {n}; expected a share from 0 to n - 1.")
        self.batcher = batcher
        self.n = n
        self.share = share

    def __call__(self, items: Iterable[ItemT]) -> Iterator[List[ItemT]]:
        batches = iter(self.batcher(items))
        while len(group := list(islice(batches, self.n))) == self.n:
            yield group[self.share]
