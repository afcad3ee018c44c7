"""Requests for entities that wait, so that several of them go through the model together."""

import asyncio
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Awaitable, Callable, Deque, List, NamedTuple, Optional, Sequence

from ..http.schemas import AnnotateBody
from ..problem import too_many_waiting
from ..settings import Batching
from ..wanted import Wanted

LOOK_AHEAD = 1024  # waiting requests that are looked at for a batch


class Answer(NamedTuple):
    """What a request is answered."""

    status: int
    media_type: str
    content: bytes


@dataclass(eq=False)
class Job:
    """A request that waits."""

    texts: Sequence[str]
    single: bool  # whether it has one text, rather than a list
    wanted: Wanted
    answer: "asyncio.Future[Answer]"

    def __post_init__(self) -> None:
        self.longest = max(1, *map(len, self.texts))


# Sends jobs to the model, and gives an answer for each.
Send = Callable[[Sequence[Job]], Awaitable[Sequence[Answer]]]


class Batcher:
    """Sends one batch of equal requests at a time, whose padded size is bounded."""

    def __init__(self, send: Send, batching: Batching, max_waiting: int) -> None:
        """batching (Batching): How large batches are, and how long a free model waits for more texts.
        max_waiting (int): How many requests may wait.
        """
        self._send, self.batching, self.max_waiting = send, batching, max_waiting
        self._waiting: Deque[Job] = deque()
        self._running: Optional[asyncio.Task[None]] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._expected = 1  # as many requests as were there at the last batch are expected to come again

    @property
    def n_waiting(self) -> int:
        """RETURNS (int): How many requests wait."""
        return len(self._waiting)

    def takes(self, body: AnnotateBody) -> bool:
        """RETURNS (bool): Whether a request is small enough to go with others. To explain takes many runs of the model,
        so such requests go alone."""
        texts = body.all_texts
        return body.explain is None and max(1, *map(len, texts)) * len(texts) <= self.batching.max_tokens

    async def run(self, body: AnnotateBody) -> Answer:
        """RETURNS (Answer): What the model makes of a request. Raises Problem if too many wait."""
        if len(self._waiting) >= self.max_waiting:
            raise too_many_waiting(len(self._waiting), self.max_waiting)
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(Job(body.all_texts, body.texts is None, body.wanted, answer))
        self._go_on()
        return await answer

    def _go_on(self) -> None:
        """Start a batch, unless one runs, or as many requests as there were last time are worth waiting for: clients
        that were answered together come back together. One that is alone waits for nobody."""
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
        self._go_on()  # before anybody is answered: the model is free
        for job, answer in zip(jobs, answers):
            if job.answer.done():
                continue
            if isinstance(answer, Answer):
                job.answer.set_result(answer)
            else:
                job.answer.set_exception(answer)  # type: ignore[arg-type]


def choose_batch(waiting: Deque[Job], max_tokens: int) -> List[Job]:
    """Take the request that has waited longest and, with it, others that want the same, as many as fit: the number of
    texts times the longest of them is at most `max_tokens`. What does not fit stays in its place, so it is the first
    one soon."""
    while waiting and waiting[0].answer.done():
        waiting.popleft()
    if not waiting:
        return []
    first = waiting.popleft()
    chosen, longest, n_texts, kept = [first], first.longest, len(first.texts), []
    for job in list(islice(waiting, LOOK_AHEAD)):
        waiting.popleft()
        if job.answer.done():  # given up
            continue
        size = max(longest, job.longest) * (n_texts + len(job.texts))
        if job.wanted == first.wanted and size <= max_tokens:
            chosen.append(job)
            longest, n_texts = max(longest, job.longest), n_texts + len(job.texts)
        else:
            kept.append(job)
    waiting.extendleft(reversed(kept))
    return chosen
