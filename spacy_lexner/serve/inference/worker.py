"""The one thread that runs the pipeline."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Sequence

from ..problem import too_many_waiting
from .tasks import Task


@dataclass(frozen=True)
class Batch:
    """The size and time of a batch, for the metrics."""

    texts: int
    characters: int
    seconds: float


class Worker:
    """Runs tasks in a thread of its own, part by part. The parts of several requests take turns, so that a long request
    does not block the others."""

    def __init__(
        self,
        max_tokens: int,
        max_waiting: int,
        *,
        on_start: Callable[[], None] = lambda: None,
        on_batch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        """max_tokens (int): The largest padded size of a part; 0: one text.
        max_waiting (int): Most texts that may wait.
        on_start (Callable[[], None]): Called in the thread before anything else.
        on_batch (Callable[[Batch], None]): Called in the thread after each part.
        """
        self.max_tokens, self.max_waiting = max_tokens, max_waiting
        self.n_waiting = 0  # texts that are not done
        self._on_batch = on_batch
        self._thread = ThreadPoolExecutor(1, "lexner-model", initializer=on_start)

    async def run(self, task: Task, texts: Sequence[str]) -> List[Any]:
        """RETURNS (List[Any]): The task's result for each text, in order; a TextError if it failed. Raises Problem if
        too many texts wait. If this is cancelled, texts that still wait are dropped."""
        if self.n_waiting and self.n_waiting + len(texts) > self.max_waiting:
            raise too_many_waiting(self.n_waiting, self.max_waiting)
        loop = asyncio.get_running_loop()
        results: List[Any] = []
        self.n_waiting += len(texts)
        try:
            for part in cut(texts, self.max_tokens):
                results += await loop.run_in_executor(self._thread, self._run, task, part)
            return results
        finally:
            self.n_waiting -= len(texts)

    def _run(self, task: Task, texts: Sequence[str]) -> List[Any]:
        start = time.monotonic()
        results = task(texts)
        self._on_batch(Batch(len(texts), sum(map(len, texts)), time.monotonic() - start))
        return results

    def stop(self) -> None:
        """Finish the running part, and end the thread."""
        self._thread.shutdown()


def cut(texts: Sequence[str], max_tokens: int) -> Iterator[List[str]]:
    """Cut a list into parts of one text, or of several if their number times the length of the longest is at most
    `max_tokens`."""
    part: List[str] = []
    longest = 0
    for text in texts:
        longest = max(longest, len(text))
        if part and longest * (len(part) + 1) > max_tokens:
            yield part
            part, longest = [], len(text)
        part.append(text)
    if part:
        yield part
