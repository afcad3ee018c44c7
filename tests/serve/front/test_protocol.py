import asyncio
import json
import socket

import pytest
import uvicorn

from spacy_lexner.serve.front.protocol import MAX_HEAD, PatientProtocol

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


async def answer(scope, receive, send):
    if scope["path"] == "/slow":
        await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def talk(sent, *, patience=0.05):
    """RETURNS (bytes): What a connection gets on which these bytes were sent, until it is closed by the other end."""

    async def main():
        options = {"lifespan": "off", "log_config": None, "timeout_keep_alive": patience}
        server = uvicorn.Server(uvicorn.Config(answer, port=free_port(), http=PatientProtocol, **options))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.config.port)
        for part in sent:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.01)  # arrives by itself
        got = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        server.should_exit = True
        await serving
        return got

    return asyncio.run(main())


@pytest.mark.parametrize("sent", [[], [b"\r\n"]])
def test_a_connection_on_which_no_request_begins_is_closed(sent):
    assert talk(sent) == b""


@pytest.mark.parametrize("sent", [[HEAD], [HEAD + b"\r\n", HEAD]])
def test_headers_that_do_not_end_are_given_up(sent):
    *answers, (head, body) = [one.split(b"\r\n\r\n") for one in talk(sent, patience=0.5).split(b"HTTP/1.1 ")[1:]]
    assert [head[:6] for head, _ in answers] == [b"200 OK"] * (len(sent) - 1)
    assert head.startswith(b"408 Request Timeout\r\n") and b"connection: close" in head.lower()
    assert json.loads(body)["type"] == "/problems/slow-headers"


def test_headers_that_are_too_large_are_refused():
    got = talk([HEAD, *[b"A: " + b"a" * (MAX_HEAD // 4) + b"\r\n"] * 4], patience=60)
    assert got.startswith(b"HTTP/1.1 431 ") and b"/problems/too-large-headers" in got


def test_an_answer_is_not_cut_by_the_next_request():
    got = talk([HEAD.replace(b"/ ", b"/slow ") + b"\r\n", HEAD])
    assert got.startswith(b"HTTP/1.1 200 ") and b"\r\n\r\nok" in got


def test_requests_of_a_connection_that_stays_open():
    posted = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100_000
    got = talk([posted + HEAD + b"\r\n", HEAD + b"\r\n"], patience=0.5)
    assert got.count(b"HTTP/1.1 200 ") == 3 and b"HTTP/1.1 4" not in got
