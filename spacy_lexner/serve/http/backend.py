"""What answers the requests that the process of HTTP passes on."""

import asyncio
import logging
from typing import Callable, List, Set

from starlette.types import ASGIApp, Message

from ..front.frames import FrameProtocol, Head
from ..front.relay import STOP, to_scope
from ..problem import internal_error

logger = logging.getLogger(__name__)


class Backend:
    """Runs an app on requests from a socket."""

    def __init__(self, app: ASGIApp, on_end: Callable[[], None]) -> None:
        """on_end (Callable[[], None]): Called once the other end is gone."""
        self.app = app
        self.protocol = FrameProtocol(self._take, on_end)
        self._tasks: Set[asyncio.Task[None]] = set()  # the loop holds none of them

    def stop(self) -> None:
        """Let no more connections in. The other end goes away once all is answered."""
        self.protocol.send({STOP: True})

    def _take(self, head: Head, body: bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(head, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, head: Head, body: bytes) -> None:
        scope = to_scope(head)
        requests: List[Message] = [{"type": "http.request", "body": body}]
        answers: List[Message] = []

        async def receive() -> Message:
            if not requests:
                await asyncio.Event().wait()  # for ever: nobody leaves before the answer
            return requests.pop()

        async def send(message: Message) -> None:
            answers.append(message)

        try:
            await self.app(scope, receive, send)
        except Exception:  # the app has said what is wrong, to the log and to the client
            if not answers:
                logger.exception("The app failed")
                await internal_error().response()(scope, receive, send)
        start, *parts = answers
        route = getattr(scope.get("route"), "path", "other")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        content = b"".join(part.get("body", b"") for part in parts)
        self.protocol.send(
            {"number": head["number"], "status": start["status"], "headers": headers, "route": route}, content
        )
