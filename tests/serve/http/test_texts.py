import time

import pytest
import spacy
from small_ner import near_scores
from small_service import TEXT, places, serving

from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.pipeline.explain import explain
from spacy_lexner.serve.dictionary.edits import Edit
from spacy_lexner.serve.settings import Limits

SUMS = 3 * 128  # the longest sum of a default FLAT: its feed-forward layer
TEXTS = [TEXT, "", "济南市很长。\n我在武汉市😀长江大桥", "abc", "武汉市长江大桥很长" * 20]


@pytest.fixture(scope="module")
def nlp(model_folder):
    return spacy.load(model_folder)


def test_answers_are_those_of_the_pipeline(client, nlp):
    answer = client.post("/annotate", json={"texts": TEXTS}).json()
    assert answer["lex_version"] == nlp.get_pipe("lex_matcher").version
    for text, result in zip(TEXTS, answer["results"], strict=True):
        doc = nlp(text)
        assert places(result["entities"]) == [(e.start_char, e.end_char, e.label_) for e in doc.ents]
        assert [e["text"] for e in result["entities"]] == [e.text for e in doc.ents]
        expected = near_scores([e._.lex_score for e in doc.ents], nlp, doc, n_terms=SUMS)
        assert [e["score"] for e in result["entities"]] == expected
    assert places(answer["results"][0]["entities"]) == [(0, 3, "GPE"), (3, 7, "LOC")]


def test_utf16_offsets_are_those_of_browsers(client):
    text = TEXTS[2]
    body = {"text": text, "words": True, "tokens": True, "offsets": "utf16"}
    [answer] = client.post("/annotate", json=body).json()["results"]
    units = text.encode("utf-16-le")
    for one in (*answer["entities"], *answer["words"]):
        assert units[2 * one["start"] : 2 * one["end"]].decode("utf-16-le") == one.get("text", one.get("word"))
    assert answer["tokens"][-1]["end"] == len(units) // 2


def test_everything_that_can_be_asked_for(client, nlp):
    body = {"text": TEXT, "words": True, "alternatives": 3, "uncertain": [0.0001, 1], "explain": "changes"}
    [answer] = client.post("/annotate", json=body).json()["results"]
    doc = nlp(TEXT)
    explain(nlp, doc)
    assert [w["word"] for w in answer["words"]] == [match.word for match in doc._.lex_matches]
    assert len(answer["alternatives"]) == 3
    assert places(answer["alternatives"][0]["entities"]) == places(answer["entities"])
    assert set(places(answer["entities"])) <= set(places(answer["uncertain"]))
    for ent, found in zip(doc.ents, answer["entities"], strict=True):
        assert [w["word"] for w in found["rests_on"]] == [w.word for w in ent._.lex_words]
        assert all(w["change"] is not None for w in found["rests_on"])


def test_what_was_not_asked_for_is_not_there(client):
    [answer] = client.post("/annotate", json={"text": TEXT}).json()["results"]
    assert set(answer) == {"entities", "conflicts"}
    assert set(answer["entities"][0]) == {"start", "end", "text", "label", "score"}


def test_lattice(client):
    answer = client.post("/lattice", json={"text": f"{TEXT}<script>"})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.text.startswith("<svg") and "<script" not in answer.text and "<style" in answer.text
    assert answer.headers["x-lexicon-version"] == client.service.version
    assert "<style" not in client.post("/lattice", json={"text": TEXT, "css": False}).text
    assert ".lx" in client.get("/lattice.css").text
    assert client.get("/lattice.css?theme=pink").status_code == 422


def test_preview_takes_no_longer_than_any_answer(model_folder, monkeypatch):
    with serving(model_folder, limits=Limits(seconds=1.0)) as client:
        monkeypatch.setattr(client.service.worker, "_on_batch", lambda batch: time.sleep(0.6))
        answer = client.post("/preview", json={"texts": [TEXT], "remove_words": ["南京市"]})
    assert (answer.status_code, answer.json()["type"]) == (408, "/problems/too-slow")


def test_preview_changes_nothing(client):
    version = client.service.version
    rule = {"word": "长江大桥", "mode": "forbid"}
    answer = client.post("/preview", json={"texts": [TEXT, "我在济南市"], "add_rules": [rule]}).json()
    assert (answer["changed"], answer["of"], answer["lex_version"]) == (1, 2, version)
    assert [result["changed"] for result in answer["results"]] == [True, False]
    assert (3, 7, "LOC") in places(answer["results"][0]["before"])
    assert (3, 7, "LOC") not in places(answer["results"][0]["after"])
    assert client.service.version == version
    [after] = client.post("/annotate", json={"text": TEXT}).json()["results"]
    assert (3, 7, "LOC") in places(after["entities"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"text": "a", "texts": ["b"]}, 422),
        ({"texts": []}, 422),
        ({"text": 1}, 422),
        ({"text": "a", "colour": "red"}, 422),
        ({"text": "a", "uncertain": [0.9, 0.1]}, 422),
        ({"text": "a", "alternatives": 1000}, 422),
        ({"texts": ["a"] * 257}, 413),
        ({"text": "a" * 100_001}, 413),
        ({"text": "a" * 501, "explain": "changes"}, 413),
    ],
)
def test_invalid_requests(client, body, status):
    answer = client.post("/annotate", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status and len(answer.json()["detail"]) > 10


def test_preview_shows_no_other_change(client, monkeypatch):
    dictionary = client.service.dictionary
    try_out = dictionary.try_out

    def after_another(edit):
        dictionary.change("add_rules", Edit(add_rules=(WordRule("长江大桥", "forbid"),)))
        return try_out(edit)

    monkeypatch.setattr(dictionary, "try_out", after_another)
    answer = client.post("/preview", json={"texts": [TEXT], "add_words": ["很远"]}).json()
    assert (answer["changed"], answer["lex_version"]) == (0, dictionary.version)


def test_a_full_queue_says_when_to_try_again(client):
    client.service.worker.n_waiting = client.service.settings.limits.waiting_texts
    for body in ({"text": TEXT}, {"text": TEXT, "explain": "attention"}):  # in a batch, and alone
        answer = client.post("/annotate", json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert answer.headers["content-type"] == "application/problem+json"
