"""The guard in front of the app: it reads bodies within limits, checks hosts and types, sets headers, and counts
requests."""

import asyncio
import logging
import secrets
import time
from typing import Any, List, Optional, Tuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..problem import Problem, internal_error
from ..settings import LOOPBACK, Limits
from .request_metrics import RequestMetrics

logger = logging.getLogger(__name__)
METRICS = "/metrics"
REQUEST_ID = b"x-request-id"
POLICY = (
    b"default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    b"object-src 'none'"
)
SECURITY = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """An ASGI app around another, which gets each body in one message. The body for /metrics is the guard's metrics."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Tuple[str, ...] = ()) -> None:
        """app (ASGIApp): The app behind the guard.
        limits (Limits): The limits of requests.
        hosts (Tuple[str, ...]): Names under which the service answers; empty for any.
        """
        self.app, self.limits, self.hosts = app, limits, hosts
        self.metrics = RequestMetrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, number = time.perf_counter(), secrets.token_hex(16).encode("ascii")
        status: List[int] = []

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
                headers = message["headers"] = list(message["headers"])
                given = {name for name, _ in headers}
                headers.extend(header for header in SECURITY if header[0] not in given)
                headers.append((REQUEST_ID, number))
            await send(message)

        try:
            body = await self._admit(scope, receive)
            scope["headers"] = [*(one for one in scope["headers"] if one[0] != REQUEST_ID), (REQUEST_ID, number)]
            await self.app(scope, _replay(body, receive), send_guarded)
        except Exception as error:
            if not isinstance(error, Problem):
                logger.exception("Request %s failed", number.decode())
            if not status:
                problem = error if isinstance(error, Problem) else internal_error()
                await problem.response()(scope, receive, send_guarded)
        finally:
            seconds = time.perf_counter() - start
            self.metrics.count(_route(scope), scope["method"], status[0] if status else 0, seconds)

    async def _admit(self, scope: Scope, receive: Receive) -> bytes:
        """Read the body of a request. Raises Problem if the request is refused."""
        headers, limits = Headers(scope=scope), self.limits
        self._check_host(headers.get("host", ""))
        upload = scope["path"].endswith("/upload")
        limit = limits.upload_bytes if upload else limits.body_bytes
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise _too_large(limit)
        try:
            body = await asyncio.wait_for(_read(receive, limit), limits.body_seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise Problem(
                408,
                "slow-body",
                f"The request did not arrive within {limits.body_seconds:g} seconds.",
                {"Connection": "close"},
            ) from None
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        wants_json = scope["method"] == "POST" or (scope["method"] == "DELETE" and body)
        if wants_json and not upload and kind != "application/json":
            raise Problem(415, "not-json", f"The body is {kind or 'of no type'}; expected application/json.")
        return self.metrics.text() if scope["path"] == METRICS else body

    def _check_host(self, host: str) -> None:
        """Raise Problem for an unknown host name: a foreign site's name may resolve to this address (DNS rebinding)."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if self.hosts and name.strip("[]").lower() not in self.hosts:
            raise Problem(
                421,
                "unknown-host",
                f"This service answers to the host names {', '.join(self.hosts)}, not to {name[:80]!r}. Start it with "
                "--allowed-host NAME to add one.",
            )


async def _read(receive: Receive, limit: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "cut-short", "The request ended before its body did.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(limit: int) -> Problem:
    return Problem(
        413,
        "too-large",
        f"The body is larger than {limit} bytes. Send it in several requests.",
        {"Connection": "close"},
        limit=limit,
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Make a `receive` that first returns the body."""
    pending: List[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


def _route(scope: Scope) -> str:
    """The pattern of the path, since metrics must have few labels and clients can make up any path."""
    route: Optional[Any] = scope.get("route")
    return getattr(route, "path", "other")


def known_hosts(host: str, allowed: Tuple[str, ...]) -> Tuple[str, ...]:
    """The host names to which a service answers: any, unless names are given or it listens on the loopback address."""
    if allowed:
        return tuple(dict.fromkeys((*map(str.lower, allowed), *LOOPBACK)))
    return LOOPBACK if host in LOOPBACK else ()
