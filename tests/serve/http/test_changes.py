import threading
import time

import pytest
from small_service import AUTH, TEXT, places, serving


def rule(word, mode, label="", weight=0.0):
    return {"word": word, "mode": mode, "label": label, "weight": weight}


@pytest.fixture
def owner(client):
    client.headers.update(AUTH)
    return client


def entities(client, text=TEXT):
    [answer] = client.post("/annotate", json={"text": text}).json()["results"]
    return places(answer["entities"])


def test_words(owner):
    answer = owner.post("/words", json={"words": ["紫峰大厦", {"word": "长江", "labels": ["X"]}]}).json()
    assert answer["change"]["number"] == 1 and answer["change"]["n_words"] == 2
    assert answer["lex_version"] == answer["change"]["version_after"] == owner.service.version
    found = owner.get("/words?q=长江&mode=exact").json()
    assert found["total"] == 9 and found["words"][0]["labels"] == ["X"] and found["words"][0]["changed"]
    [annotated] = owner.post("/annotate", json={"text": TEXT, "words": True}).json()["results"]
    assert {"word": "长江", "start": 3, "end": 5, "labels": ["X"], "rules": []} in annotated["words"]
    assert owner.delete("/words?word=紫峰大厦&word=没有").json()["change"]["words"] == ["紫峰大厦"]
    assert owner.delete("/words?word=没有").status_code == 404
    assert owner.post("/words", json={"words": ["长江"]}).json()["change"] is None


def test_rules_take_effect_and_are_undone(owner):
    before = entities(owner)
    version = owner.service.version
    assert (3, 7, "LOC") in before
    owner.post("/rules", json={"rules": [rule("长江大桥", "forbid")]})
    assert (3, 7, "LOC") not in entities(owner)
    assert owner.get("/rules?q=长江").json()["rules"] == [rule("长江大桥", "forbid")]
    assert owner.get("/diff").json()["changed"] == {"长江大桥": "rules none → forbid"}
    owner.post("/undo", json={})
    assert entities(owner) == before and owner.service.version == version
    assert owner.get("/rules").json()["rules"] == []
    kinds = [(c["number"], c["kind"], c["undone"], c["undoes"]) for c in owner.get("/changes").json()["changes"]]
    assert kinds == [(2, "undo", False, 1), (1, "add_rules", True, None)]
    assert len(owner.get("/changes?limit=1").json()["changes"]) == 1
    assert owner.post("/undo", json={}).status_code == 404


def test_rules_are_removed_and_words_stay(owner):
    owner.post("/rules", json={"rules": [rule("新词", "force", "LOC")]})
    owner.delete("/rules?word=新词")
    assert owner.get("/words?q=新词").json()["words"][0]["rules"] == []


def test_words_to_remove_in_the_query_and_the_body(owner):
    removed = owner.request("DELETE", "/words?word=长江", json={"words": ["市长"]}).json()
    assert removed["change"]["words"] == ["长江", "市长"]
    for body in (None, {}, {"words": []}):
        answer = owner.request("DELETE", "/words", json=body)
        assert answer.status_code == 422 and "Give words" in answer.json()["detail"]


def test_an_undo_that_is_undone_leaves_the_change_to_undo(owner):
    owner.post("/words", json={"words": ["新词"]})
    for body in ({}, {"change": 2}):
        assert owner.post("/undo", json=body).status_code == 200
    assert owner.get("/words?q=新词").json()["words"]
    assert [each["undone"] for each in owner.get("/changes").json()["changes"]] == [False, True, False]
    assert owner.post("/undo", json={}).json()["change"]["undoes"] == 1


def test_a_contradiction_names_both_rules(owner):
    owner.post("/rules", json={"rules": [rule("长江", "force", "LOC")]})
    answer = owner.post("/rules", json={"rules": [rule("长江", "force", "GPE")]})
    assert answer.status_code == 409
    assert answer.json()["word"] == "长江" and answer.json()["rules"] == ["force GPE", "force LOC"]
    assert "force GPE and force LOC" in answer.json()["detail"]
    replaced = owner.post("/rules", json={"rules": [rule("长江", "force", "GPE")], "replace": True})
    assert replaced.status_code == 200


def test_an_unknown_label_is_named_with_those_that_exist(owner):
    for path, body in (
        ("/rules", {"rules": [rule("长江", "force", "PLANET")]}),
        ("/preview", {"texts": [TEXT], "add_rules": [rule("长江", "force", "PLANET")]}),
    ):
        answer = owner.post(path, json=body)
        assert answer.status_code == 422
        assert "force PLANET" in answer.json()["detail"] and "GPE, LOC" in answer.json()["detail"]


def test_a_change_that_later_ones_build_on_is_not_undone(owner):
    owner.post("/words", json={"words": ["新词"]})
    owner.post("/rules", json={"rules": [rule("新词", "force", "LOC")]})
    answer = owner.post("/undo", json={"change": 1})
    assert answer.status_code == 409 and answer.json()["words"] == ["新词"]


def test_uploads(owner):
    answer = owner.post("/words/upload?name=brands.txt&label=BRAND", content="小米\n苹果\n小米\n".encode()).json()
    assert answer["change"]["kind"] == "upload_words" and answer["skipped"] == {"duplicate": 1}
    assert owner.get("/words?q=小米").json()["words"][0]["labels"] == ["BRAND"]
    rules = owner.post("/rules/upload", content="小米\tforce\tLOC\n苹果\tforbid\n".encode()).json()
    assert rules["change"]["n_words"] == 2 and owner.get("/rules").json()["rules"][0]["word"] == "小米"
    wrong = owner.post("/rules/upload?name=my.tsv", content="小米\tforced\tLOC\n".encode())
    assert wrong.status_code == 422 and "my.tsv:1:" in wrong.json()["detail"]
    owner.post("/undo", json={})
    owner.post("/undo", json={})
    assert owner.get("/words?q=小米").json()["words"] == []


def test_uploads_of_tables(owner):
    table = "word,label\n长江,LL\n".encode()
    for query in ("name=a.csv", "name=a.csv&word_column=word"):
        refused = owner.post(f"/words/upload?{query}", content=table)
        assert refused.status_code == 422 and "a.csv" in refused.json()["detail"]
        assert "label_column, weight_column or entity_id_column" in refused.json()["detail"]
    owner.post("/words", json={"words": [{"word": "长江", "weight": 3}]})
    owner.post("/words/upload?name=a.csv&label_column=label", content=table)
    row = owner.get("/words?q=长江&mode=exact").json()["words"][0]
    assert (row["labels"], row["weight"]) == (["LL"], 3.0) and not owner.get("/words?q=word").json()["words"]
    for word in ("玄武湖", "长江"):
        owner.post("/words/upload?word_column=1&weight_column=0&entity_id_column=2", content=f"1\t{word}\tQ1".encode())
        row = owner.get(f"/words?q={word}&mode=exact").json()["words"][0]
        assert (row["weight"], row["entity_id"]) == (1.0, "Q1")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/words", {"words": ["甲"]}),
        ("DELETE", "/words?word=长江", None),
        ("POST", "/words/upload", {}),
        ("POST", "/rules", {"rules": [rule("长江", "forbid")]}),
        ("DELETE", "/rules?word=长江", None),
        ("POST", "/rules/upload", {}),
        ("POST", "/undo", {}),
        ("POST", "/reload", {}),
    ],
)
def test_changes_need_the_token(client, model_folder, caplog, method, path, body):
    version = client.service.version
    for header, name in ((None, "no-token"), ("Basic abc", "no-token"), ("Bearer SECRET-GUESS", "wrong-token")):
        answer = client.request(method, path, json=body, headers={"Authorization": header} if header else {})
        assert answer.status_code == 401 and answer.json()["type"] == f"/problems/{name}"
        assert answer.headers["www-authenticate"] == "Bearer"
    assert "wrong token" in caplog.text and "SECRET-GUESS" not in caplog.text
    assert client.service.version == version
    with serving(model_folder) as closed:
        answer = closed.request(method, path, json=body, headers=AUTH)
        assert answer.status_code == 403 and "--token-file" in answer.json()["detail"]


def test_a_directory_that_cannot_be_written_changes_nothing(owner, monkeypatch):
    version = owner.service.version

    def fail(record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(owner.service.dictionary._state, "append", fail)
    answer = owner.post("/words", json={"words": ["新词"]})
    assert answer.status_code == 507 and owner.service.version == version
    assert entities(owner) and owner.get("/ready").status_code == 200


def test_every_answer_is_that_of_its_version(owner):
    """Many texts at a time, while another client alternately forbids and forces a word."""
    texts = [TEXT, f"我在{TEXT}"] * 8
    rules = {"force": rule("长江大桥", "force", "LOC"), "forbid": rule("长江大桥", "forbid")}
    first = owner.post("/rules", json={"rules": [rules["force"]], "replace": True}).json()
    known = {first["lex_version"]: True}
    answers = []
    done = threading.Event()

    def annotate():
        while not done.is_set():
            answers.append(owner.post("/annotate", json={"texts": texts}).json())

    threads = [threading.Thread(target=annotate) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(30):
        mode = "force" if i % 2 else "forbid"
        answer = owner.post("/rules", json={"rules": [rules[mode]], "replace": True}).json()
        known[answer["lex_version"]] = mode == "force"
        n_answers = len(answers)
        while i < 2 and len(answers) < n_answers + 4:  # one of them, at least, was asked for after the change
            time.sleep(0.01)
    done.set()
    for thread in threads:
        thread.join()
    assert len(known) == 2 and {answer["lex_version"] for answer in answers} == set(known)
    for answer in answers:
        for result in answer["results"]:
            assert ("长江大桥" in [ent["text"] for ent in result["entities"]]) is known[answer["lex_version"]]


def test_too_many_words_at_a_time(owner):
    answer = owner.post("/words", json={"words": [f"词{i}" for i in range(10_001)]})
    assert answer.status_code == 413 and "Upload them as a file" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/words", "/rules"])
def test_an_offset_beyond_all_words(client, path):
    assert client.get(f"{path}?offset=1000000000").status_code == 200
    answer = client.get(f"{path}?offset={10**20}")
    assert answer.status_code == 422 and answer.json()["errors"][0]["field"] == "offset"
