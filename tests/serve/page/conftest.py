from pathlib import Path

import httpx
import pytest
from live_page import browsing, listening, opened
from small_service import AUTH, changing

# Per module: Playwright's event loop must end before tests with their own.


@pytest.fixture(scope="module")
def chromium():
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def address(model_folder, tmp_path_factory):
    with listening(model_folder, **changing(tmp_path_factory.mktemp("page"))) as address:
        yield address


@pytest.fixture
def api(address):
    """A client of the service. The dictionary is restored at the end."""
    with httpx.Client(base_url=address, headers=AUTH) as client:
        yield client
        while client.post("/undo", json={}).is_success:
            pass


@pytest.fixture
def open_page(chromium, address, api):
    """Opens the page, with options for the browser context."""
    opening = []

    def open_one(**options):
        opening.append(opened(chromium, options.pop("address", address), **options))
        return opening[-1].__enter__()

    yield open_one
    for one in opening:
        one.__exit__(None, None, None)


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture(scope="session")
def page_folder():
    import spacy_lexner.serve

    return Path(spacy_lexner.serve.__file__).parent / "page"
