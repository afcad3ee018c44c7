"""What clients read about invalid requests."""

import json

import pytest
from small_service import AUTH, TEXT


@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        ("/words", {"words": ["甲", {"word": "乙", "label": "X"}]}, "words.1.label", "Extra inputs are not permitted"),
        ("/words", {"words": [{"word": "乙", "labels": [1]}]}, "words.0.labels.0", "Input should be a valid string"),
        ("/words", {"words": [{}]}, "words.0.word", "Field required"),
        ("/words", {"words": [5]}, "words.0", "Input should be a valid string"),
        ("/words", {"words": ["\ud800"]}, "words.0", "a lone surrogate at 0, which is half a character"),
        (
            "/preview",
            {"texts": [TEXT], "add_words": [{"word": 1}]},
            "add_words.0.word",
            "Input should be a valid string",
        ),
        ("/annotate", {"text": TEXT, "uncertain": ["x", 1]}, "uncertain.0", "Input should be a valid number"),
        ("/annotate", {"text": TEXT, "uncertain": "x"}, "uncertain", "Input should be a valid boolean"),
        ("/annotate", {"texts": [TEXT, 1]}, "texts.1", "Input should be a valid string"),
    ],
)
def test_only_the_true_complaint_is_shown(client, path, body, field, message):
    escaped = json.dumps(body)  # httpx cannot encode a lone surrogate
    headers = {**AUTH, "Content-Type": "application/json"}
    answer = client.post(path, content=escaped, headers=headers)
    [error] = answer.json()["errors"]
    assert answer.status_code == 422 and error["field"] == field and error["message"].startswith(message)
    assert answer.json()["detail"].startswith(f"{field}: {message}")


def test_an_empty_body(client):
    headers = {**AUTH, "Content-Type": "application/json"}
    for path in ("/annotate", "/undo", "/reload"):
        answer = client.post(path, headers=headers)
        assert answer.status_code == 422 and answer.json()["detail"].startswith("The body is empty; expected a JSON")
