"""What passes requests on to the process that has the model."""

import asyncio
from itertools import count
from typing import Callable, Dict, NamedTuple, Tuple

from starlette.types import Receive, Scope, Send

from .frames import FrameProtocol, Head

STOP = "stop"


class Route(NamedTuple):
    """The pattern of a path, as the app that has the endpoints knows it."""

    path: str


class Relay:
    """An ASGI app whose answers come from the other end of a socket. Bodies of requests are expected in one message."""

    def __init__(self, on_stop: Callable[[], None], on_end: Callable[[], None]) -> None:
        """on_stop (Callable[[], None]): Called when the other end wants no new connections.
        on_end (Callable[[], None]): Called when the other end is gone.
        """
        self._on_stop = on_stop
        self._numbers = count()
        self._asked: Dict[int, asyncio.Future[Tuple[Head, bytes]]] = {}
        self.protocol = FrameProtocol(self._take, on_end)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        number = next(self._numbers)
        answered = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self.protocol.send({"number": number, **to_head(scope)}, body)
            head, content = await answered
        finally:
            del self._asked[number]
        scope["route"] = Route(head["route"])
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
        await send({"type": "http.response.start", "status": head["status"], "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _take(self, head: Head, body: bytes) -> None:
        if STOP in head:
            self._on_stop()
            return
        answered = self._asked.get(head["number"])
        if answered is not None and not answered.done():
            answered.set_result((head, body))


def to_head(scope: Scope) -> Head:
    """RETURNS (Dict[str, Any]): What an app needs to know of a request besides its body."""
    return {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        "client": scope.get("client"),
        "server": scope.get("server"),
    }


def to_scope(head: Head) -> Scope:
    """RETURNS (Dict[str, Any]): The scope that `to_head` was given, as far as it went."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "http",
        "method": head["method"],
        "path": head["path"],
        "root_path": "",
        "query_string": head["query"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]],
        "client": head["client"],
        "server": head["server"],
        "state": {},
    }
