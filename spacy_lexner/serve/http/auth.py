"""Authorisation: whoever presents the token may change the dictionary."""

import hmac
import logging
from typing import Optional

from fastapi import Request

from ..problem import Problem

logger = logging.getLogger(__name__)
CHALLENGE = {"WWW-Authenticate": "Bearer"}


def check_token(request: Request, token: Optional[str]) -> None:
    """Raise Problem unless a request presents the token. The comparison takes constant time, and the log has no wrong
    tokens."""
    if token is None:
        raise Problem(
            403,
            "changes-disabled",
            "This service was started without a token, so nothing can be changed. Start it with --token-file and "
            "--state.",
        )
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not shown:
        raise Problem(401, "no-token", "Changes need the header 'Authorization: Bearer TOKEN'.", CHALLENGE)
    if not hmac.compare_digest(shown.strip().encode("utf8", "replace"), token.encode("ascii")):
        client = request.client.host if request.client else "unknown"
        logger.warning("%s %s from %s: wrong token", request.method, request.url.path, client)
        raise Problem(401, "wrong-token", "The token is not valid for this service.", CHALLENGE)
