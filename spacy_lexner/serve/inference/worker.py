"""The one thread that runs the pipeline: it takes waiting texts of all requests, several at a time."""

import asyncio
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Callable, Deque, List, Optional, Sequence

from ..settings import Batching
from .tasks import Task

logger = logging.getLogger(__name__)
LOOK_AHEAD = 1024  # waiting texts that are looked at for a batch


class TooManyWaiting(Exception):
    """More texts wait than are allowed to."""


@dataclass(eq=False)
class Job:
    """A text that waits."""

    task: Task
    text: str
    result: "asyncio.Future[Any]"
    arrived: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.key, self.length = self.task.key, max(len(self.text), 1)


@dataclass(frozen=True)
class Batch:
    """What was done at once, for whoever counts it."""

    texts: int
    characters: int
    seconds: float


class Worker:
    """Runs tasks on texts in a thread of its own, in batches of equal tasks whose padded size is bounded."""

    def __init__(
        self,
        batching: Batching,
        max_waiting: int,
        *,
        on_start: Callable[[], None] = lambda: None,
        on_batch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        """batching (Batching): How large batches are, and how long a free worker waits for more texts.
        max_waiting (int): How many texts may wait.
        on_start (Callable[[], None]): Called in the thread before anything else.
        on_batch (Callable[[Batch], None]): Called in the thread after each batch.
        """
        self.batching, self.max_waiting = batching, max_waiting
        self._on_start, self._on_batch = on_start, on_batch
        self._waiting: Deque[Job] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._expected = 1  # as many texts as were there at the last batch are expected to come again
        self._thread = threading.Thread(target=self._work, name="lexner-model", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """RETURNS (bool): Whether texts are still processed."""
        return self._thread.is_alive()

    @property
    def n_waiting(self) -> int:
        """RETURNS (int): How many texts wait."""
        return len(self._waiting)

    async def run(self, task: Task, texts: Sequence[str]) -> List[Any]:
        """RETURNS (List[Any]): What the task makes of each text, in order; a TextError where it fails. Raises
        TooManyWaiting. If it is cancelled, texts that still wait are forgotten."""
        loop = asyncio.get_running_loop()
        jobs = [Job(task, text, loop.create_future()) for text in texts]
        with self._changed:
            if len(self._waiting) + len(jobs) > self.max_waiting and self._waiting:
                raise TooManyWaiting(f"{len(self._waiting)} texts wait, of at most {self.max_waiting}.")
            self._waiting.extend(jobs)
            self._changed.notify()
        try:
            return await asyncio.gather(*(job.result for job in jobs))
        finally:
            for job in jobs:
                job.result.cancel()

    def stop(self) -> None:
        """Finish what waits, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    # In the thread

    def _work(self) -> None:
        self._on_start()
        while jobs := self._next():
            start = time.monotonic()
            try:
                results = jobs[0].task([job.text for job in jobs])
            except Exception as error:  # not of one text
                logger.exception("A batch of %d texts failed", len(jobs))
                results = [error] * len(jobs)
            self._on_batch(Batch(len(jobs), sum(job.length for job in jobs), time.monotonic() - start))
            loop = jobs[0].result.get_loop()
            try:
                loop.call_soon_threadsafe(_deliver, jobs, results)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _next(self) -> List[Job]:
        """The next batch; empty once all is done and the worker is to stop."""
        with self._changed:
            while True:
                while not self._waiting and not self._stopping:
                    self._changed.wait()
                self._wait_for_more()
                jobs = choose_batch(self._waiting, self.batching.max_tokens)
                self._expected = len(jobs) + len(self._waiting)
                if jobs or self._stopping:
                    return jobs

    def _wait_for_more(self) -> None:
        """Wait a little for as many texts as there were last time: clients that were answered together come back
        together. One that is alone waits for nobody."""
        deadline = time.monotonic() + self.batching.max_wait
        while len(self._waiting) < self._expected and not self._stopping and self.batching.max_tokens:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)


def choose_batch(waiting: Deque[Job], max_tokens: int) -> List[Job]:
    """Take the text that has waited longest and, with it, others of equal tasks, as many as fit: the number of texts
    times the longest of them is at most `max_tokens`. What does not fit stays in its place, so it is the first one
    soon."""
    while waiting and waiting[0].result.cancelled():
        waiting.popleft()
    if not waiting:
        return []
    first = waiting.popleft()
    chosen, longest, kept = [first], first.length, []
    for job in list(islice(waiting, LOOK_AHEAD)):
        waiting.popleft()
        if job.result.cancelled():
            continue
        size = max(longest, job.length) * (len(chosen) + 1)
        if job.key == first.key and size <= max_tokens:
            chosen.append(job)
            longest = max(longest, job.length)
        else:
            kept.append(job)
    waiting.extendleft(reversed(kept))
    return chosen


def _deliver(jobs: Sequence[Job], results: Sequence[Any]) -> None:
    for job, result in zip(jobs, results):
        if not job.result.done():
            job.result.set_result(result)


def first_error(results: Sequence[Any]) -> Optional[BaseException]:
    """The first of the results that is an error."""
    return next((result for result in results if isinstance(result, BaseException)), None)
