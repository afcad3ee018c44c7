"""The process that speaks HTTP, without a model behind it."""

import socket
from multiprocessing import get_context

import pytest

from spacy_lexner.serve.front.frames import LENGTHS, to_frame
from spacy_lexner.serve.front.process import FrontSettings, run_front
from spacy_lexner.serve.settings import Batching, Limits


@pytest.fixture
def front():
    """A process, our end of its link, and its address."""
    ours, theirs = socket.socketpair()
    listening = socket.create_server(("127.0.0.1", 0))
    settings = FrontSettings(Limits(body_seconds=0.5, seconds=0.5), Batching(), ())
    process = get_context("spawn").Process(target=run_front, args=(theirs, [listening], settings), daemon=True)
    process.start()
    theirs.close()
    yield process, ours, listening.getsockname()
    process.kill()
    process.join()
    ours.close()
    listening.close()


def test_a_client_that_never_reads_does_not_keep_a_stopping_service(front):
    process, link, address = front
    with socket.create_connection(address) as client:
        client.sendall(b"GET /words HTTP/1.1\r\nHost: localhost\r\n\r\n")
        n_head, n_body = LENGTHS.unpack(link.recv(LENGTHS.size))
        link.recv(n_head + n_body)
        link.sendall(to_frame({"number": 0, "status": 200, "headers": [], "route": "/words"}, b" " * (64 << 20)))
        link.sendall(to_frame({"stop": True}))
        process.join(20)
        assert process.exitcode == 0
