import pytest
import spacy
from small_service import TEXT, places, serving
from spacy.language import Language

from spacy_lexner.serve.front.relay import to_head, to_scope
from spacy_lexner.serve.settings import Batching


@Language.component("fails_on_x_too")
def fails_on_x(doc):
    if "x" in doc.text:
        raise ValueError("it has an x")
    return doc


@pytest.fixture(scope="module")
def fragile(model_folder, tmp_path_factory):
    """A client of a service whose pipeline fails on some texts."""
    nlp = spacy.load(model_folder)
    nlp.add_pipe("fails_on_x_too")
    folder = tmp_path_factory.mktemp("fragile")
    nlp.to_disk(folder)
    with serving(folder) as client:
        yield client


def test_requests_survive_the_way():
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/词\udcff",
        "query_string": b"q=\xff",
        "headers": [(b"x-any", bytes(range(32, 256)))],
        "client": ("127.0.0.1", 1),
    }
    same = to_scope(to_head(scope))
    assert {name: same[name] for name in scope} == scope


@pytest.mark.parametrize("batching", [Batching(), Batching(max_tokens=0)])
def test_answers_do_not_depend_on_the_way(model_folder, batching):
    bodies = [
        {"text": TEXT},
        {"texts": [TEXT, "", "我在济南市"]},
        {"text": TEXT, "words": True, "alternatives": 2, "uncertain": True, "tokens": True, "offsets": "utf16"},
    ]
    with serving(model_folder, batching=batching) as client:
        answers = [client.post("/annotate", json=body).json() for body in bodies]
        lines = client.get("/metrics").text.splitlines()
    assert places(answers[0]["results"][0]["entities"]) == [(0, 3, "GPE"), (3, 7, "LOC")]
    assert [len(answer["results"]) for answer in answers] == [1, 3, 1]
    assert set(answers[2]["results"][0]) == {"entities", "conflicts", "words", "alternatives", "uncertain", "tokens"}
    assert 'lexner_requests_total{method="POST",path="/annotate",status="200"} 3.0' in lines
    assert "lexner_requests_waiting 0.0" in lines or batching.max_tokens == 0


def test_a_text_that_fails_has_an_error_in_its_place(fragile):
    one = fragile.post("/annotate", json={"text": "x"})
    assert one.status_code == 422 and one.headers["content-type"] == "application/problem+json"
    assert one.json()["type"] == "/problems/text-failed" and "it has an x" in one.json()["detail"]
    several = fragile.post("/annotate", json={"texts": [TEXT, "x", TEXT]}).json()["results"]
    assert several[1] == {"error": one.json()}
    assert places(several[0]["entities"]) == places(several[2]["entities"]) == [(0, 3, "GPE"), (3, 7, "LOC")]


def test_what_a_pipeline_cannot_do_is_said_to_each(tmp_path):
    spacy.blank("zh").to_disk(tmp_path / "blank")
    with serving(tmp_path / "blank") as client:
        answer = client.post("/annotate", json={"text": TEXT, "alternatives": 2})
        assert answer.status_code == 422 and answer.json()["type"] == "/problems/unsupported"
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.post("/annotate", json={"text": TEXT}).json() == {
            "lex_version": None,
            "results": [{"entities": [], "conflicts": []}],
        }
