"""Tasks in flight through a cluster, and those that were lost there."""

import time
from collections import deque
from typing import Deque, Dict, Iterable, Iterator, List, Optional

from .cluster_stream import Answer, Stream, StreamError
from .processes import START_SECONDS, WorkerError
from .results import Result
from .tasks import Batch, Task

SILENCE_SECONDS = 60.0  # without a heartbeat of its actor before a batch counts as lost
PATIENCE_SECONDS = START_SECONDS  # without any heartbeat before the stream counts as stalled; clusters grow slowly
REASON = "its worker was lost repeatedly"


class _Sent:
    """A task in flight."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.results: List[Result] = []  # of its first texts
        self.sent = 0.0  # time of sending
        self.heard: Optional[float] = None  # time of the last heartbeat of its actor

    def texts(self) -> List[str]:
        """RETURNS (List[str]): What to send next: all texts, or the next one."""
        done = len(self.results)
        return self.task.texts[done : done + 1] if self.task.one_by_one else self.task.texts


class Flight:
    """The tasks in a stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.progress = False  # whether any results have arrived
        self._sent: Dict[int, _Sent] = {}
        self._todo: Deque[int] = deque()  # numbers of tasks to send, or to send more texts of
        self._n_tasks = 0
        self._began = False  # whether any actor has answered
        self._alive = time.monotonic()  # time of the last heartbeat of any actor, or of having nothing to wait for

    def run(self, tasks: Iterable[Task]) -> Iterator[Batch]:
        """Send tasks, and their follow-up tasks.

        YIELDS (Batch): Finished batches. Raises StreamError if a new stream may help, WorkerError if not.
        """
        tasks, more = iter(tasks), True
        while more or self._sent:
            if not self._todo and more:
                task = next(tasks, None)
                more = task is not None
                if task is not None:
                    self._add(task)
            waiting = 0.0 if self._todo or not self._sent else 1.0
            if self._todo:
                self._send(self._todo[0])
            for answer in self.stream.answers(waiting):
                yield from self._take(answer)
            yield from self._find_lost()

    def unfinished(self) -> List[Task]:
        """RETURNS (List[Task]): The tasks without results, to send to another stream."""
        return [sent.task for sent in self._sent.values()]

    def _add(self, task: Task) -> None:
        if not self._sent:
            self._alive = time.monotonic()
        self._sent[self._n_tasks] = _Sent(task)
        self._todo.append(self._n_tasks)
        self._n_tasks += 1

    def _send(self, number: int) -> None:
        sent = self._sent[number]
        if self.stream.offer((number, len(sent.results)), sent.texts(), 1.0):
            sent.sent, sent.heard = time.monotonic(), None
            self._todo.popleft()

    def _take(self, answer: Answer) -> Iterator[Batch]:
        self._alive, self._began = answer.time, True
        number, start = answer.key
        sent = self._sent.get(number)
        if answer.error:
            raise WorkerError(f"A node cannot do the work: {answer.error}")
        if sent is None or start != len(sent.results) or number in self._todo:  # a late answer; the texts were resent
            return
        sent.heard = answer.time
        if answer.results is not None:
            self.progress = True
            sent.results += answer.results
            if len(sent.results) < len(sent.task.indices):
                self._todo.append(number)
            else:
                yield from self._end(number, sent.task.batch.succeed(sent.task, sent.results))

    def _find_lost(self) -> Iterator[Batch]:
        """Handle texts without an answer: those of a silent actor are lost; those that no actor has taken are sent
        again once all actors are silent."""
        now = time.monotonic()
        if self._sent and now - self._alive > PATIENCE_SECONDS:
            if self._began:  # a new stream may get other actors
                raise StreamError(f"no sign of life in {PATIENCE_SECONDS:g} seconds")
            raise WorkerError(
                f"The cluster started no worker in {PATIENCE_SECONDS:g} seconds. Check its free resources (ray status)."
            )
        silent = self._began and not self._todo and now - self._alive > SILENCE_SECONDS
        for number, sent in list(self._sent.items()):
            if number in self._todo:
                continue
            if sent.heard is not None and now - sent.heard > SILENCE_SECONDS:
                yield from self._end(number, sent.task.batch.lose(sent.task, sent.results, REASON))
            elif silent and sent.heard is None and now - sent.sent > SILENCE_SECONDS:
                self._todo.append(number)

    def _end(self, number: int, following: Optional[Task]) -> Iterator[Batch]:
        sent = self._sent.pop(number)
        if following is not None:
            self._add(following)
        if sent.task.batch.finished:
            yield sent.task.batch
