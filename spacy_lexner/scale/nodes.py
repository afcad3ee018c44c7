"""Connecting to a Ray cluster, and checking that each of its nodes can do the work."""

import socket
import threading
import time
from concurrent.futures import Future, wait
from functools import partial
from importlib import import_module, metadata
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from .. import about
from .model_files import hash_model
from .processes import WorkerError

CONNECT_SECONDS = 60.0
PROBE_SECONDS = 300.0  # for all nodes
PACKAGES = ("spacy", "thinc", "torch", "transformers", "numpy")


class Needed(NamedTuple):
    """The requirements of each node."""

    versions: Dict[str, str]  # of packages
    model: str  # the pipeline, by folder or name
    model_hash: str  # of its files

    @classmethod
    def here(cls, model: str) -> "Needed":
        """RETURNS (Needed): The requirements that this machine meets."""
        return cls(find_versions(), model, hash_model(model))

    def missing(self) -> str:
        """RETURNS (str): The requirement that this machine does not meet; empty if it meets all."""
        for name, found in find_versions().items():
            if found != self.versions.get(name):
                return f"{name} {found} is installed; expected {self.versions.get(name)}"
        try:
            same = hash_model(self.model) == self.model_hash
        except OSError:
            return f"there is no pipeline {self.model}; expected it at the same path on every node"
        return "" if same else f"the files of the pipeline {self.model} differ"


def find_versions() -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The versions of the packages on which entities and scores depend."""
    found = {"spacy_lexner": about.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name).partition("+")[0]  # "2.10.0+cpu" computes the same
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def import_ray(module: str = "ray") -> Any:
    """RETURNS (Any): Ray, or one of its modules. Raises ImportError with the remedy."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'The engine "ray" needs Ray ({error}): pip install "spacy-lexner[ray]"') from error


def connect(address: Optional[str]) -> bool:
    """Connect this process to a cluster, unless it is already connected.

    address (Optional[str]): Its head, as HOST:PORT, or "auto"; None: the cluster of $RAY_ADDRESS or of this machine, or
        else Ray is started on this machine.
    RETURNS (bool): Whether this call connected it. Raises WorkerError if there is no cluster.
    """
    ray = import_ray()
    if ray.is_initialized():
        return False
    try:
        if address and address != "auto":
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        start = partial(ray.init, address=address, log_to_driver=False, logging_level="error")
        if address:
            _within(CONNECT_SECONDS, start)
        else:  # not in another thread: a Ray started here ends with the thread that started it
            start()
    except (OSError, ValueError, RuntimeError) as error:
        raise WorkerError(
            f"There is no Ray cluster at {address} ({str(error).strip()}). Start one (ray start --head), and give the "
            "HOST:PORT that it prints; without an address Ray starts on this machine."
        ) from error
    return True


def _within(seconds: float, call: Callable[[], Any]) -> None:
    """Make a call with a timeout, since Ray waits forever at the port of another service. Raises TimeoutError."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            call()
            done.set_result(None)
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait([done], seconds).done:
        raise TimeoutError(f"no answer in {seconds:g} seconds")
    done.result()


def check_nodes(needed: Needed) -> None:
    """Raise WorkerError, listing what each node of the cluster lacks, unless all nodes can do the work."""
    ray = import_ray()
    strategies = import_ray("ray.util.scheduling_strategies")

    def probe() -> str:
        # Local functions are sent by value, so this also runs on nodes without spacy_lexner.
        from importlib import import_module

        try:
            nodes = import_module("spacy_lexner.scale.nodes")
        except Exception as error:
            return f"spacy_lexner cannot be imported ({type(error).__name__}: {error})"
        return nodes.Needed(*wanted).missing()

    wanted = tuple(needed)
    remote = ray.remote(num_cpus=0, max_retries=1)(probe)
    asked: Dict[str, Any] = {}
    for node in ray.nodes():
        if node["Alive"]:
            pinned = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            asked[f"{node['NodeManagerAddress']} ({node['NodeID'][:8]})"] = remote.options(
                scheduling_strategy=pinned
            ).remote()
    found: List[str] = []
    deadline = time.monotonic() + PROBE_SECONDS
    for name, answer in asked.items():
        try:
            missing = ray.get(answer, timeout=max(1.0, deadline - time.monotonic()))
        except ray.exceptions.RayError as error:
            missing = f"no answer ({type(error).__name__}: {str(error).strip().splitlines()[0]})"
        if missing:
            found.append(f"{name}: {missing}")
    if found:
        raise WorkerError(
            f"Not every node can do the work. {'; '.join(found)}. Install the same packages on every node (here: "
            f"{', '.join(f'{name}=={version}' for name, version in needed.versions.items())}), and put the pipeline in "
            "the same place."
        )
