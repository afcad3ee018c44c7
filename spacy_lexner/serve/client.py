"""A client of `spacy lexner serve`. This file is self-contained: it needs only spaCy and httpx, and may be copied."""

from typing import Any, AsyncIterator, Awaitable, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, TypeVar

import httpx
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

Json = Dict[str, Any]
Word = str | Mapping[str, Any]  # a word, or {"word": ..., "labels": [...], "weight": ..., "entity_id": ...}
Answered = TypeVar("Answered")  # what a call returns: an answer, or an awaitable of one
BATCH_SIZE = 64


class ServiceError(Exception):
    """The service refused a request, or failed.

    status (int): The HTTP status.
    problem (Dict[str, Any]): The problem as the service describes it: "type", "title", "detail", and more.
    """

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or 'no explanation'}")
        self.status, self.problem = status, problem


class _Service(Generic[Answered]):
    """The base of both clients: makes requests, and turns answers into Docs."""

    _http_client: Any  # a class of httpx

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        token: Optional[str] = None,
        *,
        vocab: Optional[Vocab] = None,
        timeout: float = 90.0,
        **options: Any,
    ) -> None:
        """Create a client.

        url (str): The address of the service.
        token (Optional[str]): The token that allows changing the dictionary.
        vocab (Optional[Vocab]): The vocabulary of the Docs; by default a new one.
        timeout (float): Seconds to wait for an answer.
        options (Any): Options of `httpx.Client` or `httpx.AsyncClient`.
        """
        self.vocab = Vocab() if vocab is None else vocab
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = self._http_client(base_url=url, timeout=timeout, **options)
        self._limits: Optional[Json] = None  # of the service, once they were read
        if not Span.has_extension("lex_score"):
            Span.set_extension("lex_score", default=None)

    def _call(self, method: str, path: str, body: Optional[Json] = None, query: Optional[Json] = None) -> Answered:
        raise NotImplementedError

    def _request(self, method: str, path: str, body: Optional[Json], query: Optional[Json]) -> Any:
        return self._http.request(method, path, json=body, params=query, headers=self._headers)

    def preview(self, texts: Iterable[str], **change: Any) -> Answered:
        """RETURNS (Dict[str, Any]): The effect of a change on texts: `add_words`, `remove_words`, `add_rules`, ..."""
        return self._call("POST", "/preview", {"texts": _several(texts), **change})

    def find_words(self, query: str = "", **options: Any) -> Answered:
        """RETURNS (Dict[str, Any]): The words that contain `query`. Options are those of GET /words."""
        return self._call("GET", "/words", query={"q": query, **options})

    def add_words(self, words: Iterable[Word]) -> Answered:
        """RETURNS (Dict[str, Any]): The change. Raises ValueError for a single word, here and elsewhere."""
        return self._call("POST", "/words", {"words": _several(words)})

    def remove_words(self, words: Iterable[str]) -> Answered:
        """RETURNS (Dict[str, Any]): The change."""
        return self._call("DELETE", "/words", {"words": _several(words)})

    def add_rules(self, rules: Iterable[Mapping[str, Any]], *, replace: bool = False) -> Answered:
        """RETURNS (Dict[str, Any]): The change. A rule is {"word": ..., "mode": ..., "label": ..., "weight": ...}."""
        return self._call("POST", "/rules", {"rules": _several(rules), "replace": replace})

    def remove_rules(self, words: Iterable[str]) -> Answered:
        """RETURNS (Dict[str, Any]): The change."""
        return self._call("DELETE", "/rules", {"words": _several(words)})

    def undo(self, change: Optional[int] = None) -> Answered:
        """RETURNS (Dict[str, Any]): The change that undoes another one, given by number, or the last one."""
        return self._call("POST", "/undo", {} if change is None else {"change": change})

    def version(self) -> Answered:
        """RETURNS (Dict[str, Any]): Model, dictionary and limits of the service."""
        return self._call("GET", "/version")

    def _annotate(self, texts: List[str], options: Mapping[str, Any]) -> Answered:
        return self._call("POST", "/annotate", {**options, "texts": texts, "tokens": True})

    def _docs(self, texts: List[str], answer: Json) -> Iterator[Doc]:
        return (self._doc(text, one, answer["lex_version"]) for text, one in zip(texts, answer["results"]))

    def _doc(self, text: str, answer: Json, version: Optional[str]) -> Doc:
        if "error" in answer:
            raise ServiceError(answer["error"]["status"], answer["error"])
        places = [(token["start"], token["end"]) for token in answer["tokens"]]
        begins = [start for start, _ in places[1:]] + [len(text)]
        words = [text[start:end] for start, end in places]
        doc = Doc(self.vocab, words=words, spaces=[end < begin for (_, end), begin in zip(places, begins)])
        spans = []
        for ent in answer["entities"]:
            first, end = ent["tokens"]  # two entities may share a token by their characters
            span = Span(doc, first, end, label=ent["label"])
            span._.lex_score = ent["score"]
            spans.append(span)
        doc.set_ents(spans)
        doc.user_data["lexner"] = {**answer, "lex_version": version}
        return doc

    @staticmethod
    def _answer(response: httpx.Response) -> Json:
        if response.is_success:
            return response.json()
        try:
            problem = response.json()
        except ValueError:
            problem = {"title": response.reason_phrase}
        raise ServiceError(response.status_code, problem)


def _refuse_single(things: Iterable[Any]) -> None:
    """Raise ValueError for a single text, word or rule: iterating over it would give its characters or fields."""
    if isinstance(things, (str, Mapping)):
        raise ValueError(f"Expected several, got {things!r:.80}. Put a single one in a list: [{things!r:.80}].")


def _several(things: Iterable[Any]) -> List[Any]:
    _refuse_single(things)
    return list(things)


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise ValueError for options of /annotate whose answers would not fit the texts or the Docs."""
    for name, only in (("tokens", True), ("offsets", "characters")):
        if options.get(name, only) != only:
            raise ValueError(
                f"{name}={options[name]!r}: a Doc counts characters and needs the tokens. Leave this option out."
            )
    if texts := {"text", "texts"}.intersection(options):
        raise ValueError(f"{texts.pop()}: the texts are the first argument. For several, use pipe.")


def _cut(texts: Iterable[str], batch_size: int, options: Mapping[str, Any], limits: Json) -> Iterator[List[str]]:
    """Cut texts into batches within the limits of the service. A text that exceeds them is alone in its batch, so that
    the service refuses no other."""
    most = limits["explain_characters" if options.get("explain") == "changes" else "characters"]
    most = min(most, limits["body_bytes"] // 12)  # JSON escapes take up to 12 bytes a character
    batch: List[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= min(batch_size, limits["texts"]) or size + len(text) > most):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _check_pipe(texts: Iterable[str], batch_size: int, options: Mapping[str, Any]) -> None:
    _refuse_single(texts)
    _check_options(options)
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: expected at least 1 text per request.")


class Client(_Service[Json]):
    """A client. Every method raises ServiceError if the service refuses or fails, httpx.HTTPError if it cannot be
    reached.

    annotate and pipe return Docs with the service's tokens, `doc.ents` and `ent._.lex_score`; the full answer is in
    `doc.user_data["lexner"]`.
    """

    _http_client = httpx.Client

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _call(self, method: str, path: str, body: Optional[Json] = None, query: Optional[Json] = None) -> Json:
        return self._answer(self._request(method, path, body, query))

    def annotate(self, text: str, **options: Any) -> Doc:
        """RETURNS (Doc): A text with its entities. Options are those of POST /annotate: `words`, `alternatives`, ...
        Raises ValueError for `offsets` and `tokens`, since a Doc counts characters and always has its tokens."""
        _check_options(options)
        return next(self._docs([text], self._annotate([text], options)))

    def pipe(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE, **options: Any) -> Iterator[Doc]:
        """YIELDS (Doc): The texts with their entities, in order. Requests have at most `batch_size` texts, and fewer
        where the service's limits ask for it. Raises ServiceError at the first text that failed."""
        _check_pipe(texts, batch_size, options)
        return self._pipe(texts, batch_size, options)

    def _pipe(self, texts: Iterable[str], batch_size: int, options: Mapping[str, Any]) -> Iterator[Doc]:
        if self._limits is None:
            self._limits = self.version()["limits"]
        for batch in _cut(texts, batch_size, options, self._limits):
            yield from self._docs(batch, self._annotate(batch, options))


class AsyncClient(_Service[Awaitable[Json]]):
    """The client for asyncio: methods are awaited, `pipe` is an asynchronous iterator."""

    _http_client = httpx.AsyncClient

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _call(self, method: str, path: str, body: Optional[Json] = None, query: Optional[Json] = None) -> Json:
        return self._answer(await self._request(method, path, body, query))

    async def annotate(self, text: str, **options: Any) -> Doc:
        """RETURNS (Doc): See `Client.annotate`."""
        _check_options(options)
        return next(self._docs([text], await self._annotate([text], options)))

    def pipe(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE, **options: Any) -> AsyncIterator[Doc]:
        """YIELDS (Doc): See `Client.pipe`."""
        _check_pipe(texts, batch_size, options)
        return self._pipe(texts, batch_size, options)

    async def _pipe(self, texts: Iterable[str], batch_size: int, options: Mapping[str, Any]) -> AsyncIterator[Doc]:
        if self._limits is None:
            self._limits = (await self.version())["limits"]
        for batch in _cut(texts, batch_size, options, self._limits):
            for doc in self._docs(batch, await self._annotate(batch, options)):
                yield doc
