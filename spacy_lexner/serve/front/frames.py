"""The frames that the HTTP process and the model process exchange: a head, which is JSON, and a body."""

import asyncio
import json
from struct import Struct
from typing import Any, Callable, Dict, cast

Head = Dict[str, Any]
LENGTHS = Struct("<II")  # of the head, of the body, in bytes


def to_frame(head: Head, body: bytes = b"") -> bytes:
    """RETURNS (bytes): Both lengths, the head, the body."""
    data = json.dumps(head, separators=(",", ":")).encode("ascii")
    return b"".join((LENGTHS.pack(len(data), len(body)), data, body))


class FrameProtocol(asyncio.Protocol):
    """One end of a socket on which frames go both ways."""

    def __init__(self, on_frame: Callable[[Head, bytes], None], on_end: Callable[[], None]) -> None:
        """on_frame (Callable[[Dict[str, Any], bytes], None]): Called with head and body of each frame, in order.
        on_end (Callable[[], None]): Called once the other end is closed.
        """
        self._on_frame, self._on_end = on_frame, on_end
        self._data = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        place = 0
        while len(self._data) - place >= LENGTHS.size:
            n_head, n_body = LENGTHS.unpack_from(self._data, place)
            begin = place + LENGTHS.size + n_head
            end = begin + n_body
            if end > len(self._data):
                break
            head = json.loads(self._data[place + LENGTHS.size : begin])
            self._on_frame(head, bytes(self._data[begin:end]))
            place = end
        del self._data[:place]

    def connection_lost(self, error: object) -> None:
        self._on_end()

    def send(self, head: Head, body: bytes = b"") -> None:
        """Send a frame, unless the connection is closing."""
        if not self._transport.is_closing():
            self._transport.write(to_frame(head, body))

    def close(self) -> None:
        """Close this end once everything has been sent."""
        self._transport.close()
