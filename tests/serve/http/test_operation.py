import shutil

import pytest
from small_service import AUTH, TEXT, changing, serving


@pytest.fixture
def movable(model_folder, tmp_path):
    """A client of a service with its own model folder, and that folder."""
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    with serving(folder, **changing(tmp_path)) as client:
        client.headers.update(AUTH)
        yield client, folder


def test_state_of_the_service(client):
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ready"}
    version = client.get("/version").json()
    assert version["labels"] == ["GPE", "LOC"] and version["words"] == 8
    assert version["model"]["pipeline"] == ["lex_matcher", "lex_ner"]
    assert version["can"] == dict.fromkeys(
        ("words", "alternatives", "uncertain", "explain", "lattice", "changes"), True
    )
    assert version["limits"]["texts"] == 256 and version["lex_version"] == client.service.version


def test_not_ready(client, monkeypatch):
    client.service.draining = True
    assert client.get("/ready").status_code == 503 and "stopping" in client.get("/ready").json()["detail"]
    client.service.draining = False
    monkeypatch.setattr(client.service.dictionary._state._journal, "broken", "the disk is gone")
    assert "the disk is gone" in client.get("/ready").json()["detail"]
    assert client.get("/health").status_code == 200


def test_metrics(client):
    client.post("/annotate", json={"texts": [TEXT, TEXT]})
    client.post("/words", json={"words": ["新词"]}, headers=AUTH)
    client.get("/nothing/1")
    client.get("/nothing/2")
    lines = client.get("/metrics").text.splitlines()
    for line in (
        'lexner_requests_total{method="POST",path="/annotate",status="200"} 1.0',
        'lexner_requests_total{method="GET",path="other",status="404"} 2.0',
        'lexner_request_seconds_count{path="/annotate"} 1.0',
        "lexner_batch_texts_sum 2.0",
        f"lexner_batch_characters_sum {2 * len(TEXT):.1f}",
        'lexner_entities_total{label="LOC"} 2.0',
        'lexner_dictionary_changes_total{kind="add_words"} 1.0',
        f'lexner_dictionary_info{{version="{client.service.version}"}} 1.0',
        "lexner_dictionary_words 9.0",
        "lexner_journal_torn_bytes 0.0",
    ):
        assert line in lines


def test_reload_keeps_the_changes(movable):
    client, _ = movable
    client.post("/words", json={"words": ["新词"]})
    version, model = client.service.version, client.service.model
    answer = client.post("/reload", json={})
    assert answer.status_code == 200 and answer.json()["lex_version"] == version
    assert client.service.model is not model
    client.post("/undo", json={})
    assert client.get("/words?q=新词").json()["words"] == []
    assert 'lexner_reloads_total{result="loaded"} 1.0' in client.get("/metrics").text


@pytest.mark.parametrize("damage", ["config.cfg", "lex_ner/model", "lex_matcher", ""])
def test_a_broken_model_is_refused_and_the_old_one_stays(movable, damage):
    client, folder = movable
    before = client.post("/annotate", json={"text": TEXT}).json()
    shutil.rmtree(folder) if not damage else _remove(folder / damage)
    answer = client.post("/reload", json={})
    assert answer.status_code == 409 and answer.json()["detail"].startswith("The old model stays")
    assert client.post("/annotate", json={"text": TEXT}).json() == before
    assert client.post("/words", json={"words": ["新词"]}).status_code == 200
    assert client.get("/ready").status_code == 200


def test_a_model_that_the_changes_do_not_fit_is_refused(movable, monkeypatch):
    client, _ = movable
    client.post("/rules", json={"rules": [{"word": "长江", "mode": "force", "label": "LOC"}]})

    def forget(dictionary, pipe):
        from spacy_lexner.lexicon import LexiconError

        raise LexiconError("The rule 'force LOC' of '长江' applies to no component.")

    monkeypatch.setattr(type(client.service.dictionary), "use_model", forget)
    answer = client.post("/reload", json={})
    assert answer.status_code == 409 and "force LOC" in answer.json()["detail"]


def _remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()
