"""Workers on this machine: processes that load the pipeline once, are watched, and are replaced when lost."""

import contextlib
import multiprocessing
import os
import threading
import time
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import Any, Deque, Iterator, List, Optional, Tuple

from .results import Result, Wanted
from .tasks import Batch, Task

START_SECONDS = 600.0  # to load a pipeline
MAX_STARTS = 3  # consecutive workers that are lost before they are ready


class WorkerError(RuntimeError):
    """Workers cannot be started, or one was lost."""


class Worker:
    """A process with an Annotator."""

    def __init__(self, context: Any, arguments: Any) -> None:
        self.connection, child = context.Pipe()
        self.process = context.Process(target=_work, args=(child, arguments), daemon=True)
        self.process.start()
        child.close()
        self.task: Optional[Task] = None
        self.results: List[Result] = []  # of the task, so far
        self.ready = False
        self.deadline = time.monotonic() + START_SECONDS

    def give(self, task: Task, timeout: float) -> None:
        """Start a task."""
        self.task, self.results, self.deadline = task, [], time.monotonic() + timeout
        with contextlib.suppress(OSError):  # `_listen` finds a process that died while it was idle
            self.connection.send([[text] for text in task.texts] if task.one_by_one else [task.texts])

    def stop(self) -> None:
        """Kill the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class ProcessEngine:
    """Annotates batches in processes of this machine."""

    def __init__(
        self,
        model: str,
        wanted: Wanted,
        *,
        workers: int = 1,
        threads: int = 1,
        gpu_id: int = -1,
        timeout: float = 300.0,
    ) -> None:
        """Create the engine; processes are started when needed.

        model (str): The pipeline, by folder or name.
        wanted (Wanted): What to write for each text.
        workers (int): Number of processes.
        threads (int): torch threads per process.
        gpu_id (int): The GPU, or -1 for the CPU.
        timeout (float): Seconds before a batch is split into texts, and before giving up on a single text.
        """
        if workers < 1:
            raise ValueError(f"workers is {workers}; expected at least 1.")
        self.n_workers, self.timeout = workers, timeout
        self._arguments = (model, wanted, threads, gpu_id)
        # A process forked from this one would wait for torch's threads. A server that has only imported what workers
        # need has none, and forks a new worker quickly. spaCy imports spacy_transformers with every pipeline it loads.
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(method)
        self._context.set_forkserver_preload(["__main__", "torch", "spacy_transformers", __package__ + ".annotator"])
        self._workers: List[Worker] = []

    def run(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Annotate batches, which are drawn as workers become free.

        YIELDS (Batch): Finished batches, in the order in which they finish. Raises WorkerError if workers cannot start.
        """
        tasks: Deque[Task] = deque()
        more, failed_starts = True, 0
        while True:
            while more and len(tasks) < self.n_workers:
                batch = next(batches, None)
                more = batch is not None
                if batch is not None:
                    tasks.append(batch.start())
            n_busy = sum(worker.task is not None for worker in self._workers)
            if not tasks and not n_busy:
                return
            while len(self._workers) < min(self.n_workers, n_busy + len(tasks)):
                self._workers.append(Worker(self._context, self._arguments))
            for worker in self._workers:
                if tasks and worker.ready and worker.task is None:
                    worker.give(tasks.popleft(), self.timeout)
            for worker, lost in self._listen([one for one in self._workers if one.task or not one.ready]):
                if lost:
                    worker.stop()
                    self._workers.remove(worker)
                if worker.task is None:
                    failed_starts = failed_starts + 1 if lost else 0
                    if failed_starts == MAX_STARTS:
                        raise WorkerError(f"The workers cannot start: {lost}.")
                    continue
                task, batch = worker.task, worker.task.batch
                if not lost and len(worker.results) < len(task.indices):
                    continue
                worker.task = None
                following = batch.lose(task, worker.results, lost) if lost else batch.succeed(task, worker.results)
                if following is not None:
                    tasks.appendleft(following)
                if batch.finished:
                    yield batch

    def close(self) -> None:
        """Kill the workers, whatever they are doing."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()

    def _listen(self, workers: List[Worker]) -> Iterator[Tuple[Worker, str]]:
        """Wait until a worker answers or times out.

        YIELDS (Tuple[Worker, str]): Each such worker, and the reason if it is lost.
        """
        soonest = min(worker.deadline for worker in workers)
        told = wait([worker.connection for worker in workers], max(0.0, soonest - time.monotonic()))
        for worker in workers:
            if worker.connection in told:
                try:
                    answer = worker.connection.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    yield worker, f"the process ended ({_describe(worker.process.exitcode)})"
                    continue
                if isinstance(answer, Exception):
                    raise answer
                worker.ready = True
                worker.results += answer
                worker.deadline = time.monotonic() + self.timeout
                yield worker, ""
            elif time.monotonic() >= worker.deadline:
                yield worker, f"no answer in {self.timeout if worker.ready else START_SECONDS:g} seconds"


def _work(connection: Connection, arguments: Any) -> None:
    """The main loop of a worker: send an empty answer when ready, then receive lists of texts and send their
    results."""
    model, wanted, threads, gpu_id = arguments
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        from .annotator import Annotator  # imports spaCy and torch, which the parent process does not need

        annotator = Annotator(model, wanted, threads=threads, gpu_id=gpu_id)
    except Exception as error:
        connection.send(WorkerError(f"The pipeline {model} cannot be used ({type(error).__name__}: {error})."))
        return
    connection.send([])
    while True:
        try:
            parts = connection.recv()
        except EOFError:
            return
        for texts in parts:
            connection.send(annotator.annotate(texts))


def _end_with_parent() -> None:
    """End this worker with its parent process, even if it is stuck in a text."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _describe(exitcode: Optional[int]) -> str:
    import signal

    if exitcode is not None and exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"
