"""The description of the API, and its examples against the app."""

import pytest
from small_service import AUTH

from spacy_lexner.serve.http.api_page import examples_of
from spacy_lexner.serve.http.app import PAGE


def test_every_example_works(client):
    openapi = client.get("/openapi.json").json()
    n = 0
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            for body in examples_of(operation, openapi["components"]["schemas"]):
                if path == "/undo":
                    client.post("/words", json={"words": [f"新词{n}"]}, headers=AUTH)
                    body = body and {"change": client.get("/changes").json()["changes"][0]["number"]}
                answer = client.request(method, path, json=body, headers=AUTH)
                assert answer.status_code == 200, (path, body, answer.text)
                n += 1
    assert n >= 10


def test_answers_are_as_described(client):
    from spacy_lexner.serve.http import answers

    body = {"texts": ["南京市长江大桥", ""], "words": True, "alternatives": 2, "uncertain": True, "tokens": True}
    annotated = client.post("/annotate", json={**body, "explain": "changes"}).json()
    answers.AnnotateAnswer.model_validate(annotated, strict=True)
    change = client.post("/words", json={"words": ["新词"]}, headers=AUTH).json()
    assert answers.ChangeAnswer.model_validate(change).model_dump(exclude_unset=True) == change
    for path, kind in (
        ("/words?limit=3", answers.WordsAnswer),
        ("/rules", answers.RulesAnswer),
        ("/changes", answers.ChangesAnswer),
        ("/diff", answers.DiffAnswer),
        ("/version", answers.VersionAnswer),
    ):
        found = client.get(path).json()
        assert kind.model_validate(found).model_dump(exclude_unset=True) == found
    preview = client.post("/preview", json={"texts": ["南京市"], "remove_words": ["南京市"]}).json()
    assert answers.PreviewAnswer.model_validate(preview).model_dump(exclude_unset=True) == preview


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_elsewhere(client, path):
    page = client.get(path)
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert 'src="http' not in page.text and '<link rel="stylesheet" href="http' not in page.text
    assert "<style" not in page.text and "<script>" not in page.text
    assert 'href="/' not in page.text and 'src="/' not in page.text  # a proxy may put the service below a path


def test_the_page_of_the_api_shows_commands(client):
    page = client.get("/docs").text
    assert "POST /annotate" in page and "南京市长江大桥" in page and "curl -X POST" in page
    assert client.get("/static/api.css").text == (PAGE / "api.css").read_text("utf8")
