"""Running a service: one process has the model and its dictionary, another one speaks HTTP."""

import asyncio
import logging
import resource
import signal
import socket
from multiprocessing import get_context
from typing import List, Set

import uvloop

from .front.process import FORMAT, FrontSettings, run_front
from .http.backend import Backend
from .http.metrics import Metrics
from .http.operation import reload_model
from .problem import Problem
from .service import Service
from .settings import Settings

logger = logging.getLogger(__name__)


def run_service(settings: Settings, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT, then answer pending requests. SIGHUP reloads the model. Raises ValueError, OSError
    or StateError if the service cannot start, or if the HTTP process ends by itself."""
    logging.basicConfig(level=logging.INFO, format=FORMAT)
    _allow_connections()
    listening = bind(host, port)
    metrics = Metrics()
    logger.info("loading %s", settings.model)
    service = Service(settings, on_batch=metrics.count_batch)
    front = FrontSettings(settings.limits, settings.batching, settings.hosts)
    try:
        uvloop.run(_serve(service, metrics, listening, front))
    finally:
        service.close()


async def _serve(service: Service, metrics: Metrics, listening: List[socket.socket], front: FrontSettings) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    ours, theirs = socket.socketpair()
    backend = Backend(service, metrics, ended.set)
    await loop.create_connection(lambda: backend.protocol, sock=ours)
    process = get_context("spawn").Process(target=run_front, args=(theirs, listening, front), daemon=True)
    process.start()
    for one in listening:
        host, port = one.getsockname()[:2]
        logger.info("http://%s:%d/ is served by process %d", f"[{host}]" if ":" in host else host, port, process.pid)
    for one in (theirs, *listening):  # the other process has its own copies
        one.close()

    def stop() -> None:
        if service.draining:  # the second signal: do not wait for pending requests
            process.terminate()
        service.draining = True
        backend.stop()

    reloading: Set[asyncio.Task[None]] = set()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, lambda: reloading.add(loop.create_task(_reload(service, metrics))))
    await ended.wait()
    await asyncio.to_thread(process.join)
    if not service.draining:
        raise OSError(f"The HTTP process has ended (exit code {process.exitcode}). See the log for the reason.")


async def _reload(service: Service, metrics: Metrics) -> None:
    try:
        await reload_model(service, metrics)
    except Problem as problem:
        logger.error("%s", problem)


def bind(host: str, port: int) -> List[socket.socket]:
    """RETURNS (List[socket.socket]): A socket for each address of a host, not yet listening. Raises OSError."""
    sockets: List[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            sockets.append(socket.socket(family, kind, protocol))
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sockets[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sockets[-1].bind(address)
    except OSError:
        for one in sockets:
            one.close()
        raise
    return sockets


def _allow_connections() -> None:
    """Allow as many open connections as the system does. The HTTP process inherits the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
