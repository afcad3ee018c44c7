"""The app: endpoints, the page, the description of the API."""

import asyncio
import logging
import signal
import threading
from contextlib import asynccontextmanager
from pathlib import Path
from typing import AsyncIterator

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ... import about
from ...templates import render
from ..service import Service
from . import changes, operation, texts
from .api_page import describe_api
from .guard import Guard
from .metrics import Metrics
from .problems import Problem, handle_problems

logger = logging.getLogger(__name__)
PAGE = Path(__file__).parent.parent / "page"


def create_app(service: Service, metrics: Metrics) -> Guard:
    """Make the app of a service, which it closes at the end.

    RETURNS (Guard): An ASGI app.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tasks = _reload_on_signal(service, metrics)
        yield
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="spacy_lexner",
        version=about.__version__,
        description="Chinese named entities with a lexicon, and the lexicon itself.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service, app.state.metrics = service, metrics
    dictionary = service.dictionary
    metrics.watch(
        lambda: service.worker.n_waiting,
        lambda: 0 if dictionary is None else len(dictionary.matcher.lexicon),
        0 if dictionary is None else dictionary.torn_bytes,
    )
    handle_problems(app)
    for room in (texts, changes, operation):
        app.include_router(room.router)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(render("api.html.jinja", **describe_api(app.openapi())), media_type="text/html")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(PAGE / "index.html", media_type="text/html")

    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return Guard(app, service.settings, metrics)


def _reload_on_signal(service: Service, metrics: Metrics) -> "set[asyncio.Task[None]]":
    """Load the model again on SIGHUP, which only the main thread can be told of."""
    tasks: set[asyncio.Task[None]] = set()
    if threading.current_thread() is not threading.main_thread():
        return tasks

    async def reload() -> None:
        try:
            await operation.reload_model(service, metrics)
        except Problem as problem:
            logger.error("%s", problem)

    def start() -> None:
        task = asyncio.get_running_loop().create_task(reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, start)
    return tasks
