import pytest
from small_service import AUTH, TEXT


@pytest.mark.parametrize(
    ("method", "path", "takes"),
    [
        ("GET", "/words", "q, mode, changed, offset, limit"),
        ("GET", "/diff", "from, to, limit"),
        ("POST", "/annotate", "none"),
        ("DELETE", "/words", "word"),
    ],
)
def test_an_unknown_parameter_is_named_with_those_that_exist(client, method, path, takes):
    answer = client.request(method, f"{path}?words=true", json={"text": TEXT}, headers=AUTH)
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"?words: no query parameter of this endpoint, which takes {takes}."


def test_known_parameters(client):
    assert client.get("/words?q=长江&mode=exact&limit=1&offset=0&changed=false").status_code == 200
    assert client.get("/diff?from=0&to=0&limit=2").status_code == 200
    assert client.get("/lattice.css?theme=dark").status_code == client.get("/health?probe=1").status_code == 200
    assert client.get("/docs?any=1").status_code == client.get("/?lang=zh").status_code == 200
