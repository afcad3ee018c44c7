import datetime
import json

import spacy
from spacy.tokens import DocBin

from spacy_lexner.scale.records import RECORD_KEY
from spacy_lexner.scale.writers import WRITERS, write_jsonl


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


def test_numbers_that_json_lacks_become_null():
    rows = [
        {"text": "南京", "price": float("nan"), "nested": [{"a": float("inf")}, -float("inf"), 1.5]},
        {"text": "长江", "price": 2.0, "day": datetime.date(2020, 1, 2)},
    ]
    first, second = write_jsonl(rows).decode("utf8").splitlines()
    assert json.loads(first, parse_constant=refuse) == {
        "text": "南京",
        "price": None,
        "nested": [{"a": None}, None, 1.5],
    }
    assert "南京" in first
    assert json.loads(second) == {"text": "长江", "price": 2.0, "day": "2020-01-02"}


def test_docs_keep_the_other_columns():
    nlp = spacy.blank("zh")
    row = {"doc": nlp("南京").to_bytes(), "text": "南京", "id": 7, "day": datetime.date(2020, 1, 2), "large": 1 << 64}
    [doc] = DocBin().from_bytes(WRITERS["spacy"]([row])).get_docs(nlp.vocab)
    assert doc.text == "南京"
    assert doc.user_data[RECORD_KEY] == {"id": 7, "day": "2020-01-02", "large": str(1 << 64)}
