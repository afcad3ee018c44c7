"""An error as `application/problem+json` (RFC 9457)."""

import json
from typing import Any, Dict, Optional

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that cannot be fulfilled.

    status (int): The HTTP status.
    name (str): What kind of problem it is, such as "too-many-texts".
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
        content = json.dumps(self.body).encode("ascii")  # escapes whatever is in the detail
        return Response(content, self.status, self.headers, MEDIA_TYPE)


def too_slow(seconds: float) -> Problem:
    """RETURNS (Problem): For what takes longer than it may."""
    detail = f"No answer within {seconds:g} seconds. Send shorter texts, or fewer."
    return Problem(408, "too-slow", detail, {"Retry-After": "5"})


def too_many_waiting(n: int, most: int) -> Problem:
    """RETURNS (Problem): For one request too many."""
    detail = f"{n} requests or texts wait, of at most {most}. Try again in a moment."
    return Problem(429, "too-many-waiting", detail, {"Retry-After": "1"})


def internal_error() -> Problem:
    """RETURNS (Problem): What a client is told of an error of ours."""
    return Problem(500, "internal-error", "The service failed; its log says more.")
