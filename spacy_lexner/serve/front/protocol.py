"""HTTP on a connection, with limits for what comes before the body of a request."""

import asyncio
from http import HTTPStatus
from typing import Optional

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..problem import Problem

MAX_HEAD = 64 << 10  # bytes of the first line and the headers of a request


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, except that it also closes connections on which nothing was ever sent, like idle ones, and
    those whose request line and headers are too long, or take longer than an idle connection may stay open."""

    _head_size: Optional[int] = None  # bytes of unfinished headers; None between them
    _head_timer: Optional[asyncio.TimerHandle] = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_as_idle()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_size is not None:
            self._head_size += len(data)
        super().data_received(data)
        if self._head_size is None:
            self._wait_as_idle()  # blank lines before a request are no request
        elif self._head_size > MAX_HEAD:
            detail = f"The request line and headers are larger than {MAX_HEAD} bytes. Send long values in the body."
            self._refuse(Problem(431, "too-large-headers", detail))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._end_head()
        self._head_size = 0
        self._head_timer = self.loop.call_later(self.timeout_keep_alive, self._refuse_slow)

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_as_idle(self) -> None:
        if self.timeout_keep_alive_task is None and not self._is_answering and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _end_head(self) -> None:
        self._head_size = None
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_slow(self) -> None:
        if self._is_answering:  # an earlier request, whose answer must not be cut
            self._head_timer = self.loop.call_later(self.timeout_keep_alive, self._refuse_slow)
            return
        detail = f"The headers of the request did not arrive within {self.timeout_keep_alive:g} seconds."
        self._refuse(Problem(408, "slow-headers", detail))

    def _refuse(self, problem: Problem) -> None:
        self._end_head()
        if not self._is_answering and not self.transport.is_closing():
            answer = problem.response()
            lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}", "connection: close"]
            lines += [f"{name}: {value}" for name, value in answer.headers.items()]
            self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii") + bytes(answer.body))
        self.transport.close()
