"""Passing requests on to the process that has the model."""

import asyncio
import json
from contextlib import suppress
from itertools import count
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from pydantic import ValidationError
from starlette.types import Receive, Scope, Send

from ..http.schemas import AnnotateBody
from ..problem import MEDIA_TYPE, too_slow
from ..settings import Batching, Limits
from .batcher import Answer, Batcher, Job
from .frames import FrameProtocol, Head

STOP, BATCH = "stop", "batch"  # kinds of frames
ANNOTATE = "/annotate"


class Route(NamedTuple):
    """The pattern of a path, as the app with the endpoints knows it."""

    path: str


class Relay:
    """An ASGI app whose answers come from the other end of a socket. Each request body must come in one message. Small
    requests for entities are sent in batches, all others one by one."""

    def __init__(
        self, limits: Limits, batching: Batching, on_stop: Callable[[], None], on_end: Callable[[], None]
    ) -> None:
        """limits (Limits): The limits of requests.
        batching (Batching): How requests are batched.
        on_stop (Callable[[], None]): Called when the other end wants no new connections.
        on_end (Callable[[], None]): Called when the other end is gone.
        """
        self.limits, self._on_stop = limits, on_stop
        self._numbers = count()
        self._asked: Dict[int, asyncio.Future[Tuple[Head, bytes]]] = {}
        self.protocol = FrameProtocol(self._take, on_end)
        self.batcher = Batcher(self._send_batch, batching, limits.waiting_texts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        if (request := self._small_request(scope, body)) is not None:
            answer = await self._annotate(request)
            scope["route"] = Route(ANNOTATE)
            status, headers, content = answer
        else:
            head, content = await self._ask(to_head(scope), body)
            scope["route"] = Route(head["route"])
            status, headers = head["status"], from_text(head["headers"])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _small_request(self, scope: Scope, body: bytes) -> Optional[AnnotateBody]:
        """Parse a request that can be batched; None for any other, or an invalid one."""
        if scope["path"] != ANNOTATE or scope["method"] != "POST" or scope["query_string"]:
            return None
        with suppress(ValidationError):
            request = AnnotateBody.model_validate_json(body)
            texts, limits = request.all_texts, self.limits
            within = len(texts) <= limits.texts and sum(map(len, texts)) <= limits.characters
            if within and self.batcher.takes(request):
                return request
        return None

    async def _annotate(self, request: AnnotateBody) -> Answer:
        try:
            return await asyncio.wait_for(self.batcher.run(request), self.limits.seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise too_slow(self.limits.seconds) from None

    async def _send_batch(self, jobs: Sequence[Job]) -> List[Answer]:
        """Get the model's answers to requests that want the same."""
        texts = json.dumps([job.texts for job in jobs], ensure_ascii=False, separators=(",", ":")).encode("utf8")
        wanted, single = jobs[0].wanted.to_json(), [job.single for job in jobs]
        head, content = await self._ask({BATCH: wanted, "single": single}, texts)
        if BATCH not in head:  # the whole batch failed
            return [Answer(head["status"], from_text(head["headers"]), content)] * len(jobs)
        answers, place = [], 0
        for status, size in head[BATCH]:
            kind = "application/json" if status == 200 else MEDIA_TYPE
            headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % size)]
            answers.append(Answer(status, headers, content[place : place + size]))
            place += size
        return answers

    async def _ask(self, head: Head, body: bytes) -> Tuple[Head, bytes]:
        number = next(self._numbers)
        answered = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self.protocol.send({"number": number, **head}, body)
            return await answered
        finally:
            del self._asked[number]

    def _take(self, head: Head, body: bytes) -> None:
        if STOP in head:
            self._on_stop()
            return
        answered = self._asked.get(head["number"])
        if answered is not None and not answered.done():
            answered.set_result((head, body))


def to_head(scope: Scope) -> Head:
    """RETURNS (Dict[str, Any]): The parts of a request's scope that the app needs, ready for JSON."""
    return {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "headers": to_text(scope["headers"]),
        "client": scope.get("client"),
        "server": scope.get("server"),
    }


def to_scope(head: Head) -> Scope:
    """RETURNS (Dict[str, Any]): A scope with the parts kept by `to_head`."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "http",
        "method": head["method"],
        "path": head["path"],
        "root_path": "",
        "query_string": head["query"].encode("latin-1"),
        "headers": from_text(head["headers"]),
        "client": head["client"],
        "server": head["server"],
        "state": {},
    }


def to_text(headers: Sequence[Tuple[bytes, bytes]]) -> List[Tuple[str, str]]:
    """RETURNS (List[Tuple[str, str]]): Headers, ready for JSON."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def from_text(headers: Sequence[Sequence[str]]) -> List[Tuple[bytes, bytes]]:
    """RETURNS (List[Tuple[bytes, bytes]]): Headers from `to_text`."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
