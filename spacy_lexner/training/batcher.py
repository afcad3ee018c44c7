"""`spacy-lexner.batch_by_padded_tokens.v1`: batches of a bounded size after padding."""

import random
from itertools import islice
from typing import Callable, Generic, Iterable, Iterator, List, Optional, Sequence, TypeVar

from spacy.training import Example
from spacy.util import logger

ItemT = TypeVar("ItemT")


def create_padded_batcher(
    max_tokens: int,
    buffer: int = 2048,
    shuffle: bool = True,
    seed: Optional[int] = None,
    discard_oversize: bool = False,
    get_length: Optional[Callable[[ItemT], int]] = None,
) -> "PaddedBatcher[ItemT]":
    """Create a batcher by padded tokens. The arguments are those of `PaddedBatcher`.

    RETURNS (PaddedBatcher): Takes an iterable of items, gives an iterator of batches.
    """
    return PaddedBatcher(
        max_tokens,
        buffer=buffer,
        shuffle=shuffle,
        seed=seed,
        discard_oversize=discard_oversize,
        get_length=get_length,
    )


class PaddedBatcher(Generic[ItemT]):
    """Cut a stream of items into batches of items of nearly the same length. Every item is in exactly one batch.

    A batch costs its longest item times its number of items, at most `max_tokens`. An item that is larger than that by
    itself makes a batch alone.
    """

    def __init__(
        self,
        max_tokens: int,
        *,
        buffer: int = 2048,
        shuffle: bool = True,
        seed: Optional[int] = None,
        discard_oversize: bool = False,
        get_length: Optional[Callable[[ItemT], int]] = None,
    ) -> None:
        """Create the batcher.

        max_tokens (int): The largest batch, padding included.
        buffer (int): How many items are read and sorted by length together. A larger buffer pads less.
        shuffle (bool): Shuffle the batches of a buffer. Otherwise they come from short to long.
        seed (Optional[int]): Seed of the shuffling. By default Python's `random` is used, which spaCy seeds with
            `training.seed`.
        discard_oversize (bool): Leave items larger than `max_tokens` out. How many is logged.
        get_length (Optional[Callable[[ItemT], int]]): The length of an item. By default the tokens of an Example's
            predicted Doc, and `len` of anything else.
        """
        for name, value in (("max_tokens", max_tokens), ("buffer", buffer)):
            if value < 1:
                raise ValueError(f"{name} of the batcher must be at least 1, but is {value}.")
        self.max_tokens = max_tokens
        self.buffer = buffer
        self.shuffle = shuffle
        self.random = random.Random(seed) if seed is not None else None
        self.discard_oversize = discard_oversize
        self.get_length = get_length if get_length is not None else count_tokens

    def __call__(self, items: Iterable[ItemT]) -> Iterator[List[ItemT]]:
        """Make batches.

        items (Iterable[ItemT]): The items, such as Docs or Examples. Read one buffer at a time.
        YIELDS (List[ItemT]): The batches.
        """
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
    """Group items of similar length into batches of at most `max_tokens`, padding included.

    lengths (Sequence[int]): The length of each item.
    max_tokens (int): The largest product of a batch's longest length and its number of items.
    RETURNS (List[List[int]]): The indices of the items of each batch, from short to long. An item longer than
        `max_tokens` is alone.
    """
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
    """The length of an item.

    item (object): An Example, Doc, or anything that has a length.
    RETURNS (int): The tokens of an Example's predicted Doc, otherwise `len(item)`.
    """
    return len(item.predicted) if isinstance(item, Example) else len(item)  # type: ignore[arg-type]
