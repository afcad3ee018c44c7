"""A running service, and its page in a real browser."""

import threading
import time
from contextlib import contextmanager
from typing import Any, Iterator, List

import uvicorn
from headless import find_chromium
from playwright.sync_api import Browser, Page, expect, sync_playwright
from small_service import Linked

from spacy_lexner.serve.http.metrics import Metrics
from spacy_lexner.serve.service import Service
from spacy_lexner.serve.settings import Settings

QUIET = ("background-networking", "component-update", "gpu", "quic", "sync")
FLAGS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in QUIET)]
PATIENCE = 60_000  # milliseconds: a model may be slow on a busy machine


@contextmanager
def listening(model: Any, **options: Any) -> Iterator[str]:
    """The address of a service that runs within the context."""
    metrics = Metrics()
    service = Service(Settings(str(model), **options), on_batch=metrics.count_batch)
    server = uvicorn.Server(uvicorn.Config(Linked(service, metrics), port=0, ws="none", log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        service.close()


@contextmanager
def browsing() -> Iterator[Browser]:
    """A headless Chromium with a profile of its own."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, *, stub: str = "", hostile: bool = False, **options: Any) -> Iterator[Page]:
    """The page in a new window, where nothing may fail silently: no script errors, and no violation of the content
    security policy unless an answer is `hostile`. `stub` is a script that runs first."""
    context = browser.new_context(**{"locale": "en-US", "viewport": {"width": 1200, "height": 900}, **options})
    context.set_default_timeout(PATIENCE)
    if stub:
        context.add_init_script(stub)
    page = context.new_page()
    faults: List[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    if not hostile:
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.goto(address)
    expect(page.locator("#model")).not_to_be_empty()  # it knows the service's abilities
    yield page
    context.close()
    assert faults == [], faults
