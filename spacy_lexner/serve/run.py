"""Run a service with uvicorn."""

import asyncio
import logging
import resource
from typing import Optional, Type

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .http.app import create_app
from .http.metrics import Metrics
from .service import Service
from .settings import Settings

KEEP_ALIVE = 30  # seconds that an idle connection stays open
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's, but a connection on which nothing is ever sent is closed like one that has become idle."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)


def run_service(settings: Settings, host: str, port: int, *, drain_seconds: Optional[int] = None) -> None:
    """Serve until SIGTERM or SIGINT, then answer what has arrived. Raises ValueError, OSError or StateError if the
    service cannot start."""
    logging.basicConfig(level=logging.INFO, format=FORMAT)
    _allow_connections()
    metrics = Metrics()
    app = create_app(Service(settings, on_batch=metrics.count_batch), metrics)
    protocol: Type[asyncio.Protocol] = PatientProtocol
    config = uvicorn.Config(
        app,
        host,
        port,
        http=protocol,
        ws="none",
        loop="uvloop",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=drain_seconds,
    )
    uvicorn.Server(config).run()


def _allow_connections() -> None:
    """Allow as many open connections as the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
