"""Batching waiting requests for entities, so that several go through the model together."""

import asyncio
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Awaitable, Callable, Deque, List, NamedTuple, Optional, Sequence, Tuple

from ..http.schemas import AnnotateBody
from ..problem import too_many_waiting
from ..settings import Batching
from ..wanted import Wanted

LOOK_AHEAD = 1024  # waiting requests considered for a batch


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: Sequence[Tuple[bytes, bytes]]
    content: bytes


@dataclass(eq=False)
class Job:
    """A waiting request."""

    texts: Sequence[str]
    single: bool  # whether it has a single text, not a list
    wanted: Wanted
    answer: "asyncio.Future[Answer]"

    def __post_init__(self) -> None:
        self.longest = max(1, *map(len, self.texts))


# Sends jobs to the model, and returns an answer for each.
Send = Callable[[Sequence[Job]], Awaitable[Sequence[Answer]]]


class Batcher:
    """Sends one batch at a time, of requests that want the same and with a bounded padded size."""

    def __init__(self, send: Send, batching: Batching, max_waiting: int) -> None:
        """send (Send): Sends a batch to the model.
        batching (Batching): The size of batches, and the time that an idle model waits for more texts.
        max_waiting (int): Most requests that may wait.
        """
        self._send, self.batching, self.max_waiting = send, batching, max_waiting
        self._waiting: Deque[Job] = deque()
        self._running: Optional[asyncio.Task[None]] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._expected = 1  # number of requests at the last batch, which are expected to come again

    @property
    def n_waiting(self) -> int:
        """RETURNS (int): The number of waiting requests."""
        return len(self._waiting)

    def takes(self, body: AnnotateBody) -> bool:
        """RETURNS (bool): Whether a request is small enough to be batched. Explaining takes many runs of the model, so
        such requests are not."""
        texts = body.all_texts
        return body.explain is None and max(1, *map(len, texts)) * len(texts) <= self.batching.max_tokens

    async def run(self, body: AnnotateBody) -> Answer:
        """RETURNS (Answer): The model's answer to a request. Raises Problem if too many are waiting."""
        if len(self._waiting) >= self.max_waiting:
            raise too_many_waiting(len(self._waiting), self.max_waiting)
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(Job(body.all_texts, body.texts is None, body.wanted, answer))
        self._start_if_due()
        return await answer

    def _start_if_due(self) -> None:
        """Start a batch, unless one is running or fewer requests are waiting than last time: clients that were answered
        together tend to come back together, so the rest is worth waiting for. A single client never waits."""
        if self._running is not None or not self._waiting:
            return
        if len(self._waiting) >= self._expected:
            self._start()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.batching.max_wait, self._start)

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        jobs = choose_batch(self._waiting, self.batching.max_tokens)
        self._expected = len(jobs) + len(self._waiting)
        if jobs:
            self._running = asyncio.get_running_loop().create_task(self._run(jobs))

    async def _run(self, jobs: Sequence[Job]) -> None:
        try:
            answers: Sequence[object] = await self._send(jobs)
        except Exception as error:
            answers = [error] * len(jobs)
        self._running = None
        self._start_if_due()  # before answering, since the model is idle
        for job, answer in zip(jobs, answers):
            if job.answer.done():
                continue
            if isinstance(answer, Answer):
                job.answer.set_result(answer)
            else:
                job.answer.set_exception(answer)  # type: ignore[arg-type]


def choose_batch(waiting: Deque[Job], max_tokens: int) -> List[Job]:
    """Take the request that has waited longest, and with it as many others that want the same as fit: the number of
    texts times the length of the longest is at most `max_tokens`. Requests that do not fit keep their place in the
    queue."""
    while waiting and waiting[0].answer.done():
        waiting.popleft()
    if not waiting:
        return []
    first = waiting.popleft()
    chosen, longest, n_texts, kept = [first], first.longest, len(first.texts), []
    for job in list(islice(waiting, LOOK_AHEAD)):
        waiting.popleft()
        if job.answer.done():  # cancelled
            continue
        size = max(longest, job.longest) * (n_texts + len(job.texts))
        if job.wanted == first.wanted and size <= max_tokens:
            chosen.append(job)
            longest, n_texts = max(longest, job.longest), n_texts + len(job.texts)
        else:
            kept.append(job)
    waiting.extendleft(reversed(kept))
    return chosen
