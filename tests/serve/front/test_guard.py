"""Rejected requests, and what every answer has."""

import asyncio

import pytest
from small_service import TEXT, serving

from spacy_lexner.serve.front.guard import known_hosts
from spacy_lexner.serve.settings import Limits

JSON = {"Content-Type": "application/json"}


def is_problem(answer, status, name):
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in answer.text
    return answer.status_code == answer.json()["status"] == status and answer.json()["type"] == f"/problems/{name}"


@pytest.mark.parametrize(
    ("body", "status", "name"),
    [
        (b"", 422, "invalid-request"),
        (b"{not json", 400, "not-json"),
        (b"[" * 100_000, 400, "bad-request"),
        (b"\xff\xfe", 400, None),
        (b'{"text": 1e400}', 422, "invalid-request"),
        (b'["text"]', 422, "invalid-request"),
        (b'{"text": "\\ud800"}', 422, "invalid-request"),
        (b'{"texts": ["a", "\\udc00b"]}', 422, "invalid-request"),
        (b'{"text": "a", "\\ud800": 1}', 422, "invalid-request"),
        (b'{"alternatives": %s, "text": "a"}' % (b"9" * 5000), 400, "bad-request"),
    ],
)
def test_bodies_that_are_not_requests(client, body, status, name):
    answer = client.post("/annotate", content=body, headers=JSON)
    assert is_problem(answer, status, name or answer.json()["type"].rpartition("/")[2])


@pytest.mark.parametrize("text", ["a\0b", "\x00", "\x07\x1b[31m", "\u202e南京市\u2028", "\r\n\t ", "😀" * 50, "\ufffe"])
def test_any_text_is_a_text(client, text):
    answer = client.post("/annotate", json={"text": text + TEXT, "words": True})
    assert answer.status_code == 200
    for ent in answer.json()["results"][0]["entities"]:
        assert (text + TEXT)[ent["start"] : ent["end"]] == ent["text"]
    assert client.post("/lattice", json={"text": text + TEXT}).status_code == 200


def test_other_types_are_refused(client):
    for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        assert is_problem(client.post("/annotate", content=b'{"text": "a"}', headers=headers), 415, "not-json")
        removal = client.request("DELETE", "/words", content=b'{"words": ["a"]}', headers=headers)
        assert is_problem(removal, 415, "not-json")


def test_paths_and_methods(client):
    assert is_problem(client.get("/nothing"), 404, "not-found")
    assert is_problem(client.get("/annotate"), 405, "method-not-allowed")
    assert is_problem(client.get("/static/../../settings.py"), 404, "not-found")
    assert is_problem(client.get("/words?limit=0"), 422, "invalid-request")


def test_headers_of_every_answer(client):
    for path in ("/", "/docs", "/version", "/nothing", "/static/api.css"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY" and len(headers["x-request-id"]) == 32
        assert "access-control-allow-origin" not in headers
    picture = client.post("/lattice", json={"text": TEXT}).headers
    assert picture["content-security-policy"].startswith("default-src 'none'")


def test_large_bodies(model_folder):
    with serving(model_folder, limits=Limits(body_bytes=1000)) as client:
        assert is_problem(client.post("/annotate", json={"text": "a" * 1000}), 413, "too-large")
        parts = iter([b'{"text": "', b"a" * 600, b"a" * 600, b"never read"])
        answer = client.post("/annotate", content=parts, headers=JSON)  # without a Content-Length
        assert is_problem(answer, 413, "too-large")
        assert client.post("/annotate", json={"text": "a" * 900}).status_code == 200


def test_a_body_that_never_ends(model_folder):
    """The body is announced but does not arrive."""

    async def ask(app):
        sent = []

        async def receive():
            await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"10")]
        scope = {"type": "http", "method": "POST", "path": "/annotate", "headers": headers, "query_string": b""}
        await app(scope, receive, send)
        return sent

    with serving(model_folder, limits=Limits(body_seconds=0.05)) as client:
        start, body = asyncio.run(ask(client.app))
    assert start["status"] == 408 and (b"connection", b"close") in start["headers"]
    assert b"slow-body" in body["body"]


def test_answers_that_take_too_long(model_folder):
    with serving(model_folder, limits=Limits(seconds=0.0)) as client:
        assert is_problem(client.post("/annotate", json={"text": TEXT}), 408, "too-slow")


def test_errors_of_ours_say_nothing_of_the_code(client, monkeypatch, caplog):
    def fail(*args):
        raise RuntimeError("a secret of the code")

    monkeypatch.setattr(type(client.service), "describe", fail)
    answer = client.get("/version")
    assert is_problem(answer, 500, "internal-error") and "secret" not in answer.text
    assert "a secret of the code" in caplog.text and answer.headers["x-request-id"] in caplog.text


def test_names_of_the_service(model_folder):
    with serving(model_folder, hosts=known_hosts("127.0.0.1", ())) as client:
        for host in ("127.0.0.1", "localhost:8080", "[::1]:8080"):
            assert client.get("/health", headers={"Host": host}).status_code == 200
        assert is_problem(client.get("/health", headers={"Host": "evil.example"}), 421, "unknown-host")
    assert known_hosts("0.0.0.0", ()) == ()
    assert known_hosts("0.0.0.0", ("NER.example",)) == ("ner.example", "127.0.0.1", "::1", "localhost")
