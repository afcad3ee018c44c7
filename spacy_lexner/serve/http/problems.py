"""Turning errors into problems, as clients see them."""

import logging
from http import HTTPStatus
from typing import Dict, List, Sequence, Union

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ...lexicon.errors import LexiconError
from ..dictionary.errors import ChangedSinceError, ContradictionError, UnknownError
from ..problem import Problem, internal_error
from .schemas import NESTED, PLAIN

logger = logging.getLogger(__name__)


def to_problem(error: BaseException) -> Problem:
    """Turn an error into a problem for the client."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ContradictionError):
        return Problem(409, "contradiction", str(error), word=error.word, rules=list(error.rules))
    if isinstance(error, ChangedSinceError):
        return Problem(409, "changed-since", str(error), words=list(error.words))
    if isinstance(error, UnknownError):
        return Problem(404, "unknown", str(error))
    if isinstance(error, LexiconError):
        return Problem(422, "invalid-change", str(error))
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        name = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
        return Problem(error.status_code, name, str(error.detail), dict(error.headers or {}))
    return internal_error()


def _invalid(error: RequestValidationError) -> Problem:
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return Problem(400, "not-json", "The body is not valid JSON.")
    if any(fault["type"] == "missing" and fault["loc"] == ("body",) for fault in faults):
        detail = "The body is empty; expected a JSON object, such as {}. GET /docs shows examples."
        return Problem(422, "invalid-request", detail)
    fields: List[Dict[str, str]] = [{"field": _path(fault["loc"]), "message": _shown(fault["msg"])} for fault in faults]
    details = "; ".join(f"{one['field']}: {one['message']}" if one["field"] else one["message"] for one in fields[:5])
    return Problem(422, "invalid-request", f"{details}. GET /docs shows examples.", errors=fields[:20])


def _path(place: Sequence[Union[str, int]]) -> str:
    """The path of a member as the client wrote it: without "body" or "query", and without the tags of kinds."""
    return ".".join(str(part) for part in place[1:] if part not in (PLAIN, NESTED))


def _shown(message: str) -> str:
    return message.removeprefix("Value error, ").rstrip(".")


def handle_problems(app: FastAPI) -> None:
    """Make an app answer every error with a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        problem = to_problem(error)
        if problem.status == 500:
            logger.error("Request %s failed", request.headers.get("x-request-id"), exc_info=error)
        return problem.response()

    for kind in (Problem, LexiconError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
