"""A client of `spacy lexner serve`. This file is self-contained: it needs only spaCy and httpx, and may be copied."""

from itertools import islice
from typing import Any, AsyncIterator, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Union

import httpx
from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

Json = Dict[str, Any]
Word = Union[str, Mapping[str, Any]]  # a word, or {"word": ..., "labels": [...], "weight": ..., "entity_id": ...}
BATCH_SIZE = 64


class ServiceError(Exception):
    """The service refused a request, or failed.

    status (int): The HTTP status.
    problem (Dict[str, Any]): The problem as the service describes it: "type", "title", "detail", and more.
    """

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or 'no explanation'}")
        self.status, self.problem = status, problem


class _Call(NamedTuple):
    """A request."""

    method: str
    path: str
    body: Optional[Json] = None
    query: Optional[Dict[str, Any]] = None


class _Service:
    """The base of both clients: makes requests, and turns answers into Docs."""

    def __init__(self, token: Optional[str], vocab: Optional[Vocab]) -> None:
        self.vocab = Vocab() if vocab is None else vocab
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if not Span.has_extension("lex_score"):
            Span.set_extension("lex_score", default=None)

    def _annotate(self, texts: List[str], options: Mapping[str, Any]) -> _Call:
        return _Call("POST", "/annotate", {"texts": texts, "tokens": True, **options})

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
            span = doc.char_span(ent["start"], ent["end"], label=ent["label"], alignment_mode="expand")
            if span is not None:  # only None outside of the text
                span._.lex_score = ent["score"]
                spans.append(span)
        doc.set_ents(filter_spans(spans))
        doc.user_data["lexner"] = {**answer, "lex_version": version}
        return doc

    def _preview(self, texts: Iterable[str], change: Mapping[str, Any]) -> _Call:
        return _Call("POST", "/preview", {"texts": list(texts), **change})

    def _add_words(self, words: Iterable[Word]) -> _Call:
        return _Call("POST", "/words", {"words": list(words)})

    def _remove_words(self, words: Iterable[str]) -> _Call:
        return _Call("DELETE", "/words", {"words": list(words)})

    def _find_words(self, query: str, options: Mapping[str, Any]) -> _Call:
        return _Call("GET", "/words", query={"q": query, **options})

    def _add_rules(self, rules: Iterable[Mapping[str, Any]], replace: bool) -> _Call:
        return _Call("POST", "/rules", {"rules": list(rules), "replace": replace})

    def _remove_rules(self, words: Iterable[str]) -> _Call:
        return _Call("DELETE", "/rules", {"words": list(words)})

    def _undo(self, change: Optional[int]) -> _Call:
        return _Call("POST", "/undo", {} if change is None else {"change": change})

    def _options(self, call: _Call) -> Dict[str, Any]:
        return {"json": call.body, "params": call.query, "headers": self._headers}

    @staticmethod
    def _answer(response: httpx.Response) -> Json:
        if response.is_success:
            return response.json()
        try:
            problem = response.json()
        except ValueError:
            problem = {"title": response.reason_phrase}
        raise ServiceError(response.status_code, problem)


class Client(_Service):
    """A client. Every method raises ServiceError if the service refuses or fails, httpx.HTTPError if it cannot be
    reached.

    annotate and pipe return Docs with the service's tokens, `doc.ents` and `ent._.lex_score`; the full answer is in
    `doc.user_data["lexner"]`.
    """

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
        options (Any): Options of `httpx.Client`.
        """
        super().__init__(token, vocab)
        self._http = httpx.Client(base_url=url, timeout=timeout, **options)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _call(self, call: _Call) -> Json:
        return self._answer(self._http.request(call.method, call.path, **self._options(call)))

    def annotate(self, text: str, **options: Any) -> Doc:
        """RETURNS (Doc): A text with its entities. Options are those of POST /annotate: `words`, `alternatives`, ..."""
        return next(self.pipe([text], **options))

    def pipe(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE, **options: Any) -> Iterator[Doc]:
        """YIELDS (Doc): The texts with their entities, in order. Raises ServiceError at the first text that failed."""
        stream = iter(texts)
        while batch := list(islice(stream, batch_size)):
            yield from self._docs(batch, self._call(self._annotate(batch, options)))

    def preview(self, texts: Iterable[str], **change: Any) -> Json:
        """RETURNS (Dict[str, Any]): The effect of a change on texts: `add_words`, `remove_words`, `add_rules`, ..."""
        return self._call(self._preview(texts, change))

    def find_words(self, query: str = "", **options: Any) -> Json:
        """RETURNS (Dict[str, Any]): The words that contain `query`. Options are those of GET /words."""
        return self._call(self._find_words(query, options))

    def add_words(self, words: Iterable[Word]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return self._call(self._add_words(words))

    def remove_words(self, words: Iterable[str]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return self._call(self._remove_words(words))

    def add_rules(self, rules: Iterable[Mapping[str, Any]], *, replace: bool = False) -> Json:
        """RETURNS (Dict[str, Any]): The change. A rule is {"word": ..., "mode": ..., "label": ..., "weight": ...}."""
        return self._call(self._add_rules(rules, replace))

    def remove_rules(self, words: Iterable[str]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return self._call(self._remove_rules(words))

    def undo(self, change: Optional[int] = None) -> Json:
        """RETURNS (Dict[str, Any]): The change that undoes another one, given by number, or the last one."""
        return self._call(self._undo(change))

    def version(self) -> Json:
        """RETURNS (Dict[str, Any]): Model, dictionary and limits of the service."""
        return self._call(_Call("GET", "/version"))


class AsyncClient(_Service):
    """The client for asyncio: methods are awaited, `pipe` is an asynchronous iterator."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        token: Optional[str] = None,
        *,
        vocab: Optional[Vocab] = None,
        timeout: float = 90.0,
        **options: Any,
    ) -> None:
        """Create a client. Arguments as for `Client`; options are those of `httpx.AsyncClient`."""
        super().__init__(token, vocab)
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout, **options)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _call(self, call: _Call) -> Json:
        return self._answer(await self._http.request(call.method, call.path, **self._options(call)))

    async def annotate(self, text: str, **options: Any) -> Doc:
        """RETURNS (Doc): See `Client.annotate`."""
        return next(self._docs([text], await self._call(self._annotate([text], options))))

    async def pipe(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE, **options: Any) -> AsyncIterator[Doc]:
        """YIELDS (Doc): See `Client.pipe`."""
        stream = iter(texts)
        while batch := list(islice(stream, batch_size)):
            for doc in self._docs(batch, await self._call(self._annotate(batch, options))):
                yield doc

    async def preview(self, texts: Iterable[str], **change: Any) -> Json:
        """RETURNS (Dict[str, Any]): See `Client.preview`."""
        return await self._call(self._preview(texts, change))

    async def find_words(self, query: str = "", **options: Any) -> Json:
        """RETURNS (Dict[str, Any]): See `Client.find_words`."""
        return await self._call(self._find_words(query, options))

    async def add_words(self, words: Iterable[Word]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return await self._call(self._add_words(words))

    async def remove_words(self, words: Iterable[str]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return await self._call(self._remove_words(words))

    async def add_rules(self, rules: Iterable[Mapping[str, Any]], *, replace: bool = False) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return await self._call(self._add_rules(rules, replace))

    async def remove_rules(self, words: Iterable[str]) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return await self._call(self._remove_rules(words))

    async def undo(self, change: Optional[int] = None) -> Json:
        """RETURNS (Dict[str, Any]): The change."""
        return await self._call(self._undo(change))

    async def version(self) -> Json:
        """RETURNS (Dict[str, Any]): Model, dictionary and limits of the service."""
        return await self._call(_Call("GET", "/version"))
