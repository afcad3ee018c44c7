"""The client against the app, without a network between them."""

import httpx
import pytest
import spacy
from small_service import AUTH, TEXT, TOKEN, changing, serving

from spacy_lexner.serve.client import AsyncClient, Client, ServiceError, _cut
from spacy_lexner.serve.settings import Limits

TEXTS = [TEXT, "", " 我在 济南市\n", "武汉市长江大桥很长"]
URL = "http://127.0.0.1"


@pytest.fixture
def connected(client):
    """Our client, with requests going through Starlette's test client."""
    with Client(URL, TOKEN, transport=client._transport) as own:
        yield own


def ents(doc):
    return [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]


def test_docs_are_those_of_the_pipeline(connected, model_folder):
    nlp = spacy.load(model_folder)
    for text, doc in zip(TEXTS, connected.pipe(TEXTS, batch_size=3), strict=True):
        expected = nlp(text)
        assert doc.text == text and [token.text for token in doc] == [token.text for token in expected]
        assert ents(doc) == ents(expected)
        assert all(0 < ent._.lex_score <= 1 for ent in doc.ents)
    doc = connected.annotate(TEXT, words=True)
    assert doc.user_data["lexner"]["lex_version"] == connected.version()["lex_version"]
    assert "长江" in [word["word"] for word in doc.user_data["lexner"]["words"]]


@pytest.mark.parametrize("mode", ["expand", "contract"])
def test_entities_that_share_a_token_are_those_of_the_pipeline(model_folder, tmp_path, mode):
    trained = spacy.load(model_folder, config={"components": {"lex_ner": {"alignment_mode": mode}}})
    jieba = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": jieba}})
    for name in trained.pipe_names:
        nlp.add_pipe(name, source=trained)
    nlp.get_pipe("lex_matcher").add_rules([("南京市长", "force", "GPE"), ("江大桥很忙", "force", "LOC")])
    nlp.to_disk(tmp_path / "words")
    expected = nlp("在南京市长江大桥很忙")
    with serving(tmp_path / "words") as client, Client(URL, transport=client._transport) as own:
        doc = own.annotate(expected.text)
    assert [token.text for token in doc] == [token.text for token in expected]
    assert len(doc.ents) == 2 and ents(doc) == ents(expected)
    found = doc.user_data["lexner"]["entities"]
    assert [(one["start"], one["end"]) for one in found] == [(1, 5), (5, 10)], "the exact characters"


def test_changes(connected):
    before = connected.version()["lex_version"]
    assert connected.add_words(["紫峰大厦", {"word": "很忙", "labels": ["X"]}])["change"]["n_words"] == 2
    assert [row["word"] for row in connected.find_words("紫峰")["words"]] == ["紫峰大厦"]
    connected.add_rules([{"word": "紫峰大厦", "mode": "force", "label": "LOC"}], replace=True)
    assert ents(connected.annotate("我在紫峰大厦")) == [(2, 6, "LOC")]
    assert connected.preview(["我在紫峰大厦"], remove_rules=["紫峰大厦"])["of"] == 1
    connected.remove_rules(["紫峰大厦"])
    connected.remove_words(["很忙"])
    for _ in range(4):
        connected.undo()
    assert connected.version()["lex_version"] == before


def test_many_words_are_removed_in_one_change(connected):
    """As many as would not fit into a URL."""
    before, words = connected.version()["lex_version"], [f"第{number}号大桥" for number in range(3000)]
    assert connected.add_words(words)["change"]["n_words"] == 3000
    connected.add_rules([{"word": word, "mode": "force", "label": "LOC"} for word in words])
    assert connected.remove_rules(words)["change"]["n_words"] == 3000
    assert connected.remove_words([*words, "没有"])["change"]["n_words"] == 3000
    assert connected.version()["lex_version"] == before


def test_docs_before_a_text_that_failed_are_returned(connected, monkeypatch):
    good = connected._annotate([TEXT], {})
    answer = {**good, "results": [*good["results"], {"error": {"status": 422, "detail": "too odd"}}]}
    monkeypatch.setattr(connected, "_annotate", lambda texts, options: answer)
    docs = connected.pipe([TEXT, "坏"])
    assert next(docs).text == TEXT
    with pytest.raises(ServiceError, match="422: too odd"):
        next(docs)


def test_batches_are_within_the_limits_of_the_service(model_folder):
    texts = ["江" * 20] * 8 + [""] * 7
    with serving(model_folder, limits=Limits(texts=5, characters=60)) as client:
        own = Client(URL, transport=client._transport)
        assert [doc.text for doc in own.pipe(texts)] == texts
        limits = own.version()["limits"]
    assert [len(batch) for batch in _cut(texts, 64, {}, limits)] == [3, 3, 5, 4]
    assert [len(batch) for batch in _cut(texts, 2, {}, limits)] == [2] * 7 + [1]
    assert [len(batch) for batch in _cut(["桥" * 251] * 3, 64, {"explain": "changes"}, limits)] == [1, 1, 1]
    assert [len(batch) for batch in _cut(["a", "桥" * 61, "a"], 64, {}, limits)] == [1, 1, 1]
    limits = {**limits, "characters": 10**6, "body_bytes": 600}  # characters may be escaped in JSON
    assert [len(batch) for batch in _cut(["江" * 20] * 5, 64, {}, limits)] == [2, 2, 1]


def test_limits_are_read_once(connected, monkeypatch):
    asked, call = [], connected._call
    monkeypatch.setattr(connected, "_call", lambda *request: asked.append(request[:2]) or call(*request))
    for _ in range(2):
        list(connected.pipe([TEXT, TEXT], batch_size=1))
    assert asked == [("GET", "/version"), *[("POST", "/annotate")] * 4]


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_has_a_text(connected, batch_size):
    for own in (connected, AsyncClient(URL)):
        with pytest.raises(ValueError, match=f"batch_size={batch_size}: expected at least 1"):
            own.pipe([TEXT], batch_size=batch_size)


def test_a_single_word_or_text_is_not_several(connected):
    before = connected.version()
    for own in (connected, AsyncClient(URL)):
        for method in (own.add_words, own.remove_words, own.add_rules, own.remove_rules, own.preview, own.pipe):
            with pytest.raises(
                ValueError, match=r"Expected several, got '长江'. Put a single one in a list: \['长江'\]"
            ):
                method("长江")
        with pytest.raises(ValueError, match=r"Expected several, got \{'word': '长江'\}"):
            own.add_words({"word": "长江"})
    assert connected.version() == before


@pytest.mark.parametrize("options", [{"offsets": "utf16"}, {"tokens": False}])
def test_options_of_which_no_doc_can_be_made(connected, options):
    for own in (connected, AsyncClient(URL)):
        with pytest.raises(ValueError, match="a Doc counts characters and needs the tokens"):
            own.pipe(["😀武汉市"], **options)
    with pytest.raises(ValueError, match="a Doc counts characters and needs the tokens"):
        connected.annotate("😀武汉市", **options)


def test_texts_are_no_option(connected):
    with pytest.raises(ValueError, match="texts: the texts are the first argument"):
        connected.annotate(TEXT, texts=["别的"])
    with pytest.raises(ValueError, match="text: the texts are the first argument"):
        connected.pipe([TEXT], text="别的")


def test_offsets_of_astral_characters(connected):
    doc = connected.annotate("😀武汉市长江大桥很长", offsets="characters", tokens=True)
    found = doc.user_data["lexner"]["entities"]
    assert found and [ent.text for ent in doc.ents] == [entity["text"] for entity in found]


def test_errors(connected, client):
    with pytest.raises(ServiceError, match="404: Not in the lexicon") as caught:
        connected.remove_words(["没有"])
    assert caught.value.status == 404 and caught.value.problem["type"] == "/problems/unknown"
    with Client(URL, transport=client._transport) as stranger, pytest.raises(ServiceError, match="401"):
        stranger.add_words(["甲"])
    with pytest.raises(ServiceError, match="502: Bad Gateway"):
        Client._answer(httpx.Response(502, text="<html>"))


def test_asynchronous(model_folder, tmp_path):
    async def talk(app):
        async with AsyncClient(URL, TOKEN, transport=httpx.ASGITransport(app)) as own:
            docs = [doc async for doc in own.pipe(TEXTS, batch_size=3)]
            many = [doc async for doc in own.pipe(["江"] * 257, batch_size=300)]
            one = await own.annotate(TEXT)
            await own.add_words(["紫峰大厦"])
            await own.add_rules([{"word": "紫峰大厦", "mode": "force", "label": "LOC"}])
            found = await own.find_words("紫峰")
            effect = await own.preview(["我在紫峰大厦"], remove_rules=["紫峰大厦"])
            await own.remove_rules(["紫峰大厦"])
            await own.remove_words(["紫峰大厦"])
            await own.undo()
            return docs, many, one, found, effect, await own.version()

    with serving(model_folder, **changing(tmp_path)) as client:
        docs, many, one, found, effect, version = client.portal.call(talk, client.app)
        assert client.get("/words?q=紫峰", headers=AUTH).json()["words"] == [{**found["words"][0], "rules": []}]
    assert [doc.text for doc in docs] == TEXTS and ents(docs[0]) == ents(one) and len(many) == 257
    assert effect["results"][0]["before"][0]["text"] == "紫峰大厦" and version["state"]["changes"] == 5
