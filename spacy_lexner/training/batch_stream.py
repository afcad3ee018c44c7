"""A stream of training batches that can be replayed up to any place."""

import random
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from spacy.training import Example

from .digests import DocDigest
from .run_state import numpy_state, python_state, set_numpy_state, set_python_state, set_torch_state, torch_state

Batch = Tuple[int, List[Example]]  # the epoch, and the examples


class Source(NamedTuple):
    """A source of random numbers that corpora, augmenters and batchers draw from."""

    get: Callable[[], Any]
    set: Callable[[Any], None]
    seed: Callable[[int], Any]


SOURCES = {
    "python": Source(lambda: python_state(random), lambda state: set_python_state(random, state), random.seed),
    "numpy": Source(numpy_state, set_numpy_state, np.random.seed),
    "torch": Source(torch_state, set_torch_state, torch.default_generator.manual_seed),
}


@contextmanager
def fixed_draws() -> Iterator[None]:
    """Draw the same random numbers whenever this is entered, and leave no trace in the sources."""
    states = {name: source.get() for name, source in SOURCES.items()}
    for source in SOURCES.values():
        source.seed(0)
    try:
        yield
    finally:
        for name, source in SOURCES.items():
            source.set(states[name])


class Place(NamedTuple):
    """A place in a stream of batches, ready for JSON."""

    n_read: int  # number of batches read
    draws: List[Tuple[int, str, Any]]  # batch number, source and its state before the batch, if others had changed it
    digest: str  # of the references of all batches so far
    entities_only: bool = True  # whether the digest leaves out other annotation, as in checkpoints without this field


class BatchStream(Iterator[Batch]):
    """Batches from corpora, augmenters and batchers, which need not save their state.

    To resume, the stream is created again and read up to its place. It draws the same random numbers, since each source
    is put into the recorded state: the stream records the state of a source before it draws from it, unless it was also
    the last to draw. Updates, which draw other numbers in between, are not repeated.
    """

    def __init__(self, batches: Iterator[Tuple[int, Any]]) -> None:
        """batches (Iterator[Tuple[int, Any]]): Batches from spaCy's `create_train_batches`, none of them read yet."""
        self._batches = batches
        self._n_read = 0
        self._draws: List[Tuple[int, str, Any]] = []
        self._last: Dict[str, Any] = {}  # the state of each source after the stream's last draw
        self._digests = {False: DocDigest()}  # by `entities_only`

    @property
    def place(self) -> Place:
        """RETURNS (Place): The current place of the stream."""
        return Place(self._n_read, list(self._draws), self._digests[False].hexdigest(), entities_only=False)

    def __next__(self) -> Batch:
        before = {name: source.get() for name, source in SOURCES.items()}
        epoch, batch = next(self._batches)
        for name, source in SOURCES.items():
            after = source.get()
            if after != before[name]:
                if before[name] != self._last.get(name):
                    self._draws.append((self._n_read, name, before[name]))
                self._last[name] = after
        self._n_read += 1
        batch = list(batch)
        for digest in self._digests.values():
            digest.update(example.reference for example in batch)
        return epoch, batch

    def go_to(self, place: Place) -> bool:
        """Read the batches before a place again. This changes the random states.

        RETURNS (bool): Whether they are the same batches. If not, the stream is of no use.
        """
        digest = self._digests.setdefault(place.entities_only, DocDigest(place.entities_only))
        draws: Dict[int, List[Tuple[str, Any]]] = {}
        for n_read, name, state in place.draws:
            draws.setdefault(n_read, []).append((name, state))
        missing: Optional[Batch] = (0, [])
        while self._n_read < place.n_read and missing is not None:
            for name, state in draws.get(self._n_read, ()):
                SOURCES[name].set(state)
            missing = next(self, None)
        self._digests = {False: self._digests[False]}
        self._draws = [(n_read, name, state) for n_read, name, state in place.draws]
        return digest.hexdigest() == place.digest
