"""The process that speaks HTTP: it admits requests and passes them on. It needs neither spaCy nor torch, and takes no
time from the interpreter that runs the model."""

import asyncio
import logging
import os
import socket
from contextlib import suppress
from math import ceil
from typing import List, NamedTuple, Tuple

import uvicorn
import uvloop

from ..settings import Batching, Limits
from .guard import Guard
from .protocol import PatientProtocol
from .relay import Relay

KEEP_ALIVE = 30  # seconds that an idle connection stays open, and that headers may take
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class FrontSettings(NamedTuple):
    """The settings of the process."""

    limits: Limits
    batching: Batching
    hosts: Tuple[str, ...]


def run_front(link: socket.socket, listening: List[socket.socket], settings: FrontSettings) -> None:
    """Serve until the other end of the link says stop, then answer pending requests. Exits at once if it is gone."""
    logging.basicConfig(level=logging.INFO, format=FORMAT)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again once everything is answered
        uvloop.run(_serve(link, listening, settings))


async def _serve(link: socket.socket, listening: List[socket.socket], settings: FrontSettings) -> None:
    def stop() -> None:
        server.should_exit = True

    relay = Relay(settings.limits, settings.batching, on_stop=stop, on_end=lambda: os._exit(1))
    guard = Guard(relay, settings.limits, settings.hosts)
    guard.metrics.watch(lambda: relay.batcher.n_waiting)
    config = uvicorn.Config(
        guard,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        # A client may read its answer slowly, or never.
        timeout_graceful_shutdown=ceil(settings.limits.body_seconds + settings.limits.seconds),
    )
    server = uvicorn.Server(config)
    await asyncio.get_running_loop().create_connection(lambda: relay.protocol, sock=link)
    await server.serve(sockets=listening)
