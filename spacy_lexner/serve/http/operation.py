"""Endpoints for operating the service: /health, /ready, /version, /metrics, /reload."""

from dataclasses import asdict
from typing import Any, Dict

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from ... import about
from ..dictionary.errors import LexiconError
from ..problem import Problem
from ..service import Service
from .answers import VersionAnswer
from .auth import check_token
from .context import metrics_of, service_of
from .metrics import Metrics
from .schemas import ReloadBody
from .texts import to_json

TEXT: Dict[Any, Any] = {200: {"content": {"text/plain": {}}}}
router = APIRouter(tags=["operation"])


@router.get("/health", summary="Whether the process is alive")
async def health() -> Dict[str, str]:
    return {"status": "ok"}


@router.get("/ready", summary="Whether the service accepts requests")
async def ready(request: Request) -> Dict[str, str]:
    """503 while the service stops, and if the model or the journal has failed."""
    if fault := service_of(request).fault:
        raise Problem(503, "not-ready", fault)
    return {"status": "ready"}


@router.get("/version", response_model=VersionAnswer, summary="Model, dictionary, limits")
async def version(request: Request) -> Response:
    service = service_of(request)
    own = {"name": "spacy_lexner", "version": about.__version__}
    return to_json({**own, **service.describe(), "limits": asdict(service.settings.limits)})


@router.get("/metrics", response_class=Response, responses=TEXT, summary="For Prometheus")
async def metrics(request: Request) -> Response:
    service = service_of(request)
    text = await request.body() + metrics_of(request).text(service.version or "")  # the body is the guard's metrics
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


@router.post("/reload", summary="Reload the model")
async def reload(body: ReloadBody, request: Request) -> Dict[str, Any]:
    """Load the model, which may be a new one, from its folder again, and apply the changes of the dictionary to it.
    Waiting requests are answered by the old model. If the new model does not work, the old one stays (409)."""
    service = service_of(request)
    check_token(request, service.settings.token)
    await reload_model(service, metrics_of(request))
    return {"model": service.model.describe(), "lex_version": service.version}


async def reload_model(service: Service, metrics: Metrics) -> None:
    """Load the model again. Raises Problem, and keeps the old model, if the new one does not work."""
    try:
        await service.reload()
    except (ValueError, OSError, LexiconError) as error:
        metrics.count_reload("failed")
        raise Problem(409, "broken-model", f"The old model stays: {error}") from error
    metrics.count_reload("loaded")
