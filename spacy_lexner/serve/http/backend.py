"""Answering the requests that the HTTP process passes on."""

import asyncio
import json
import logging
from typing import Callable, List, Set

from starlette.types import Message

from ..front.frames import FrameProtocol, Head
from ..front.relay import BATCH, STOP, to_scope, to_text
from ..problem import Problem, internal_error
from ..service import Service
from ..wanted import Wanted
from .app import create_app
from .metrics import Metrics
from .problems import to_problem
from .texts import annotate_together

logger = logging.getLogger(__name__)


class Backend:
    """Answers requests from a socket: batches by the model, others by the app."""

    def __init__(self, service: Service, metrics: Metrics, on_end: Callable[[], None]) -> None:
        """service (Service): The service.
        metrics (Metrics): Its metrics.
        on_end (Callable[[], None]): Called once the other end is gone.
        """
        self.service, self.metrics = service, metrics
        self.app = create_app(service, metrics)
        self.protocol = FrameProtocol(self._take, on_end)
        self._tasks: Set[asyncio.Task[None]] = set()  # the event loop keeps only weak references

    def stop(self) -> None:
        """Accept no more connections. The other end closes once everything is answered."""
        self.protocol.send({STOP: True})

    def _take(self, head: Head, body: bytes) -> None:
        answer = self._answer_batch if BATCH in head else self._answer
        task = asyncio.get_running_loop().create_task(answer(head, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_batch(self, head: Head, body: bytes) -> None:
        wanted, answer = Wanted.from_json(head[BATCH]), {"number": head["number"]}
        try:
            found = await annotate_together(self.service, self.metrics, wanted, json.loads(body), head["single"])
        except Exception as error:
            if not isinstance(error, Problem):
                logger.exception("A batch failed")
            response = to_problem(error).response()
            head = {**answer, "status": response.status_code, "headers": to_text(response.raw_headers)}
            self.protocol.send(head, bytes(response.body))
        else:
            sizes = [(status, len(content)) for status, content in found]
            self.protocol.send({**answer, BATCH: sizes}, b"".join(content for _, content in found))

    async def _answer(self, head: Head, body: bytes) -> None:
        scope = to_scope(head)
        requests: List[Message] = [{"type": "http.request", "body": body}]
        answers: List[Message] = []

        async def receive() -> Message:
            if not requests:
                await asyncio.Event().wait()  # forever: a disconnect is never reported
            return requests.pop()

        async def send(message: Message) -> None:
            answers.append(message)

        try:
            await self.app(scope, receive, send)
        except Exception:  # usually the app has already logged the error and answered
            if not answers:
                logger.exception("The app failed")
                await internal_error().response()(scope, receive, send)
        start, *parts = answers
        route = getattr(scope.get("route"), "path", "other")
        content = b"".join(part.get("body", b"") for part in parts)
        answer = {"number": head["number"], "status": start["status"], "headers": to_text(start["headers"])}
        self.protocol.send({**answer, "route": route}, content)
