"""The FastAPI app: the endpoints, the page, and the API's description."""

from pathlib import Path

from fastapi import Depends, FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ... import about
from ...templates import render
from ..service import Service
from . import changes, operation, texts
from .api_page import describe_api
from .metrics import Metrics
from .problems import handle_problems
from .query import refuse_unknown

PAGE = Path(__file__).parent.parent / "page"


def create_app(service: Service, metrics: Metrics) -> FastAPI:
    """RETURNS (FastAPI): The app of a service. A `Guard` must be in front of it."""
    app = FastAPI(
        title="spacy_lexner",
        version=about.__version__,
        description="Chinese named entities with a lexicon, and the lexicon itself.",
        docs_url=None,
        redoc_url=None,
    )
    app.state.service, app.state.metrics = service, metrics
    metrics.watch(
        lambda: service.worker.n_waiting,
        lambda: 0 if service.dictionary is None else len(service.dictionary.matcher.lexicon),
        0 if service.dictionary is None else service.dictionary.torn_bytes,
    )
    handle_problems(app)
    for room in (texts, changes):
        app.include_router(room.router, dependencies=[Depends(refuse_unknown)])
    app.include_router(operation.router)  # probes may add parameters of their own

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(render("api.html.jinja", **describe_api(app.openapi())), media_type="text/html")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(PAGE / "index.html", media_type="text/html")

    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return app
