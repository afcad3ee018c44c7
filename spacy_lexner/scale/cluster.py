"""Workers on a Ray cluster.

Ray Data streams batches through a pool of actors. Each actor has a process that loads the pipeline from its path: the
actor finds texts that kill or block the process, as on one machine. An actor is lost with its node, or if Ray ends it
for lack of memory. Actors send heartbeats, so a batch lost with an actor is noticed: its texts are sent again one by
one, until the text at fault, if any, is found.
"""

from contextlib import closing
from itertools import chain
from typing import Iterator, Optional

from .cluster_actor import Setup
from .cluster_stream import Stream, StreamError
from .flight import Flight
from .nodes import Needed, check_nodes, connect, import_ray
from .processes import WorkerError
from .records import import_arrow
from .results import Wanted
from .tasks import Batch, Task

TICK_SECONDS = 5.0  # between an actor's heartbeats
MAX_STREAMS = 3  # consecutive streams that Ray may end before any batch is done


class RayEngine:
    """Annotates batches on a Ray cluster."""

    def __init__(
        self,
        model: str,
        wanted: Wanted,
        *,
        workers: Optional[int] = None,
        threads: int = 1,
        gpu_share: float = 0.0,
        timeout: float = 300.0,
        address: Optional[str] = None,
    ) -> None:
        """Connect to the cluster, and check that its nodes can do the work.

        model (str): The pipeline, by folder or name, the same on every node.
        wanted (Wanted): What to write for each text.
        workers (Optional[int]): Number of actors; None: as many as fit on the cluster.
        threads (int): torch threads per actor, and CPUs that Ray reserves for it.
        gpu_share (float): Share of a GPU per actor; 0: CPU only.
        timeout (float): See `ProcessEngine`.
        address (Optional[str]): See `connect`.
        """
        import_ray("ray.data")
        import_arrow("")
        needed = Needed.here(model)
        self._started_ray = connect(address)
        self._setup = Setup(needed, wanted, threads, gpu_share > 0, timeout, TICK_SECONDS)
        self._gpu_share, self._workers = gpu_share, workers
        try:
            check_nodes(needed)
        except BaseException:
            self.close()
            raise

    def run(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Annotate batches, which are drawn as the cluster takes them.

        YIELDS (Batch): Finished batches, in the order in which they finish. Raises WorkerError if actors cannot work,
            or send no heartbeat.
        """
        tasks: Iterator[Task] = (batch.start() for batch in batches)
        failures = 0
        while (first := next(tasks, None)) is not None:
            with closing(Stream(self._setup, self._workers, self._gpu_share)) as stream:
                flight = Flight(stream)
                try:
                    yield from flight.run(chain([first], tasks))
                    stream.finish()
                except StreamError as error:
                    failures = 0 if flight.progress else failures + 1
                    if failures == MAX_STREAMS:
                        raise WorkerError(f"The work on the cluster ended {failures} times: {error}") from error
                    tasks = chain(flight.unfinished(), tasks)

    def close(self) -> None:
        """Shut Ray down if it was started for this engine. The actors end with their stream."""
        if self._started_ray:
            import_ray().shutdown()
