"""A small trained pipeline with a dictionary, and a service around it."""

import asyncio
import socket
from contextlib import contextmanager
from pathlib import Path

import spacy
from spacy.training import Example
from spacy.util import fix_random_seed
from starlette.testclient import TestClient

from spacy_lexner.serve.front.guard import Guard
from spacy_lexner.serve.front.relay import Relay
from spacy_lexner.serve.http.backend import Backend
from spacy_lexner.serve.http.metrics import Metrics
from spacy_lexner.serve.service import Service
from spacy_lexner.serve.settings import Settings

TOKEN = "a token of no one else".replace(" ", "-")
AUTH = {"Authorization": f"Bearer {TOKEN}"}
WORDS = ["南京市", "武汉市", "济南市", "长江大桥", "黄河大桥", "长江", "大桥", "市长"]
GOLD = [
    ("武汉市长江大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("济南市黄河大桥很长", [(0, 3, "GPE"), (3, 7, "LOC")]),
    ("武汉市长很忙", [(0, 2, "GPE")]),
    ("我在济南市", [(2, 5, "GPE")]),
]
TEXT = "南京市长江大桥"


def train_small(steps=80):
    """RETURNS (Language): A pipeline with `lex_matcher` and `lex_ner`."""
    fix_random_seed(0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    nlp.add_pipe("lex_ner", config={"threshold": 0.0})
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in GOLD]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


@contextmanager
def serving(model, **options):
    """A client of a service that runs within the context; `client.service` is the service."""
    metrics = Metrics()
    service = Service(Settings(str(model), **options), on_batch=metrics.count_batch)
    with TestClient(Linked(service, metrics), base_url="http://127.0.0.1") as client:
        client.service = service
        yield client
    service.close()


class Linked:
    """An ASGI app: the parts that admit and answer requests, linked as in their two processes."""

    def __init__(self, service, metrics):
        self.service, self.metrics = service, metrics
        settings = service.settings
        self.relay = Relay(settings.limits, settings.batching, on_stop=lambda: None, on_end=lambda: None)
        self.guard = Guard(self.relay, settings.limits, settings.hosts)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            await self.guard(scope, receive, send)
            return
        await receive()
        loop, sockets = asyncio.get_running_loop(), socket.socketpair()
        self.backend = Backend(self.service, self.metrics, on_end=lambda: None)
        for one, protocol in zip(sockets, (self.relay.protocol, self.backend.protocol)):
            await loop.create_connection(lambda own=protocol: own, sock=one)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.relay.protocol.close()
        await send({"type": "lifespan.shutdown.complete"})


def places(entities):
    return [(ent["start"], ent["end"], ent["label"]) for ent in entities]


def changing(folder: Path):
    """RETURNS (Dict[str, Any]): Options for a service whose dictionary can be changed."""
    return {"state": folder / "state", "token": TOKEN}
