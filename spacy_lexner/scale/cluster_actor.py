"""The actor that runs on the nodes of a Ray cluster, with a process that annotates."""

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Iterator, List, NamedTuple

import srsly

from .nodes import Needed
from .processes import ProcessEngine, WorkerError
from .records import import_arrow
from .results import Result, Wanted
from .tasks import Batch


class Setup(NamedTuple):
    """The settings of an actor, as plain values."""

    needed: Needed
    wanted: Wanted
    threads: int
    gpu: bool
    timeout: float
    tick: float  # seconds between heartbeats


class Actor:
    """Annotates batches, which are rows of an Arrow table.

    A process of the actor loads the pipeline. The actor finds texts that kill or block it, as on one machine.
    """

    def __init__(self, setup: Setup) -> None:
        self.missing = setup.needed.missing()  # the node may have joined after the others were checked
        self.tick = setup.tick
        self.engine = ProcessEngine(
            setup.needed.model,
            setup.wanted,
            threads=setup.threads,
            gpu_id=0 if setup.gpu else -1,  # Ray shows an actor no GPU but its own
            timeout=setup.timeout,
        )

    def __call__(self, table: Any) -> Iterator[Any]:
        """Annotate the rows of a table.

        table (pyarrow.Table): Rows with `key` and `texts`.
        YIELDS (pyarrow.Table): For each row an empty answer immediately and every `tick` seconds (a heartbeat); finally
            the results, or the error of this node.
        """
        for row in table.to_pylist():
            with ThreadPoolExecutor(1) as thread:
                future = thread.submit(self._annotate, row["texts"])
                yield _answer(key=row["key"])
                while not wait([future], self.tick).done:
                    yield _answer(key=row["key"])
                error = future.exception()
                if error is None:
                    yield _answer(key=row["key"], results=srsly.msgpack_dumps(future.result()))
                else:
                    yield _answer(key=row["key"], error=f"{type(error).__name__}: {error}")

    def _annotate(self, texts: List[str]) -> List[Result]:
        if self.missing:
            raise WorkerError(self.missing)
        [batch] = self.engine.run(iter([Batch(0, range(len(texts)), texts)]))
        return [batch.results[index] for index in range(len(texts))]


def _answer(**values: Any) -> Any:
    arrow = import_arrow("")
    types = {"key": arrow.list_(arrow.int64()), "results": arrow.binary(), "error": arrow.string()}
    return arrow.Table.from_pylist([values], schema=arrow.schema(list(types.items())))
