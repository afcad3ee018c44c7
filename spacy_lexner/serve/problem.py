"""An error as `application/problem+json` (RFC 9457)."""

import json
from typing import Any, Dict, Optional

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that cannot be fulfilled.

    status (int): The HTTP status.
    name (str): The kind of problem, such as "too-many-texts".
    detail (str): What is wrong, what was expected, and the remedy.
    headers (Optional[Dict[str, str]]): Headers of the answer.
    more (Any): Further members of the answer.
    """

    def __init__(
        self, status: int, name: str, detail: str, headers: Optional[Dict[str, str]] = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.headers = status, headers
        title = name.replace("-", " ").capitalize()
        self.body: Dict[str, Any] = {
            "type": f"/problems/{name}",
            "title": title,
            "status": status,
            "detail": detail,
            **more,
        }

    def response(self) -> Response:
        """RETURNS (Response): The answer."""
        content = json.dumps(self.body).encode("ascii")  # escapes everything in the detail
        return Response(content, self.status, self.headers, MEDIA_TYPE)


def too_slow(seconds: float) -> Problem:
    """RETURNS (Problem): The problem of a timeout."""
    detail = f"No answer within {seconds:g} seconds. Send fewer or shorter texts."
    return Problem(408, "too-slow", detail, {"Retry-After": "5"})


def too_many_waiting(n: int, most: int) -> Problem:
    """RETURNS (Problem): The problem of a full queue."""
    detail = f"{n} requests or texts are waiting; at most {most} may. Try again in a moment."
    return Problem(429, "too-many-waiting", detail, {"Retry-After": "1"})


def internal_error() -> Problem:
    """RETURNS (Problem): The problem of an unexpected error, without its details."""
    return Problem(500, "internal-error", "The service failed; see its log.")
