"""Streaming texts through the actors of a Ray cluster with Ray Data."""

import logging
import queue
import threading
import time
import warnings
from contextlib import suppress
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import srsly

from .cluster_actor import Actor, Setup
from .nodes import import_ray
from .records import import_arrow
from .results import Result

MAX_RESTARTS = 100  # of an actor
STREAM_BYTES = 64 * 1024 * 1024  # of batches and results in the stream
END_SECONDS = 30.0  # for the actors to end
END = StopIteration("before all results had arrived")

Key = Tuple[int, int]


class Answer(NamedTuple):
    """An actor's answer."""

    key: Key
    results: Optional[List[Result]]  # None: a heartbeat
    error: Optional[str]  # why its node cannot work
    time: float  # of arrival


class StreamError(RuntimeError):
    """Ray ended the stream, or it stalled."""


class Stream:
    """A Ray dataset that is fed while it runs.

    Ray Data applies backpressure to its source when actors or results lag behind, and the source to `offer`. Ray
    restarts a lost actor, but does not repeat its batch (`max_task_retries` = 0): if there is no room for the restart,
    the batch would wait forever. The feeder of the stream notices what is missing.
    """

    def __init__(self, setup: Setup, workers: Optional[int], gpu_share: float) -> None:
        ray, data = import_ray(), import_ray("ray.data")
        strategies = import_ray("ray.util.scheduling_strategies")
        here = strategies.NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        queues = import_ray("ray.util.queue")
        self._full = queues.Full
        self._queue = source = queues.Queue(maxsize=4, actor_options={"num_cpus": 0, "scheduling_strategy": here})

        def read(_: Any) -> Iterator[Any]:
            arrow = import_arrow("")
            while (item := source.get()) is not None:
                yield arrow.table({"key": [item[0]], "texts": [item[1]]})

        with warnings.catch_warnings():  # Ray deprecates these options without an alternative yet
            warnings.simplefilter("ignore", DeprecationWarning)
            texts = data.from_items([0], override_num_blocks=1).map_batches(
                read, batch_format="pyarrow", num_cpus=0, scheduling_strategy=here, max_retries=0
            )
            self._dataset = texts.map_batches(
                Actor,
                batch_size=1,
                batch_format="pyarrow",
                fn_constructor_args=(setup,),
                # A pool that may shrink drops actors when a node is lost, and not always those of that node.
                compute=data.ActorPoolStrategy(min_size=workers or 1, max_size=workers, initial_size=workers),
                **actor_options(setup.threads, gpu_share),
            )
        context = self._dataset.context
        context.target_max_block_size = 1  # every row, a batch, is a block, so that actors take batches one by one
        context.max_errored_blocks = -1  # a lost batch does not end the others
        context.execution_no_progress_timeout_s = -1  # the source may be slow
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.execution_options.resource_limits = data.ExecutionResources.for_limits(object_store_memory=STREAM_BYTES)
        self._answers: Any = queue.SimpleQueue()
        for handler in logging.getLogger("ray.data").handlers:
            if handler.name == "console":
                handler.setLevel("CRITICAL")  # lost batches are handled here, and logged in Ray's files
        threading.Thread(target=self._listen, daemon=True).start()

    def offer(self, key: Key, texts: List[str], seconds: float) -> bool:
        """Send texts. RETURNS (bool): Whether there was room within this many seconds."""
        return self._put((list(key), texts), seconds)

    def answers(self, seconds: float) -> Iterator[Answer]:
        """YIELDS (Answer): The answers that arrive within this many seconds. Raises StreamError if no more will."""
        try:
            answer = self._answers.get(timeout=seconds)
            while True:
                if not isinstance(answer, Answer):
                    raise StreamError(f"{type(answer).__name__}: {answer}")
                yield answer
                answer = self._answers.get_nowait()
        except queue.Empty:
            return

    def finish(self) -> None:
        """Let the actors end once all answers have arrived, and wait for it up to END_SECONDS."""
        deadline = time.monotonic() + END_SECONDS
        with suppress(StreamError):
            self._put(None, END_SECONDS)
            while (left := deadline - time.monotonic()) > 0:
                for _ in self.answers(left):
                    pass

    def close(self) -> None:
        """End the stream, dropping whatever is in it."""
        self._queue.shutdown(force=True)

    def _put(self, item: Any, seconds: float) -> bool:
        try:
            self._queue.put(item, timeout=seconds)
        except self._full:
            return False
        except import_ray().exceptions.RayError as error:
            raise StreamError(str(error)) from error
        return True

    def _listen(self) -> None:
        try:
            for table in self._dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                for row in table.to_pylist():
                    found = row["results"] and [Result(*result) for result in srsly.msgpack_loads(row["results"])]
                    self._answers.put(Answer(tuple(row["key"]), found, row["error"], time.monotonic()))
            self._answers.put(END)
        except Exception as error:
            self._answers.put(error)


def actor_options(threads: int, gpu_share: float) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The resources that Ray reserves for an actor, and its restarts. Not both CPUs and GPUs:
    Ray Data advises against it."""
    reserved = {"num_gpus": gpu_share} if gpu_share else {"num_cpus": threads}
    return {**reserved, "max_restarts": MAX_RESTARTS, "max_task_retries": 0}
