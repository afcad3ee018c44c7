"""Endpoints that process texts: /annotate, /lattice, /preview."""

import asyncio
import json
from typing import Any, Dict, List, Sequence, Tuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from ...lexicon.rules import WordRule
from ...templates import render
from ...visualize.svg import THEMES
from ..dictionary.edits import Edit, WordFields
from ..inference.tasks import Annotation, Drawing, Task, TextError
from ..problem import MEDIA_TYPE, Problem, too_slow
from ..service import Service
from ..wanted import Wanted
from .answers import AnnotateAnswer, PreviewAnswer
from .context import metrics_of, require_dictionary, service_of
from .metrics import Metrics
from .schemas import AnnotateBody, LatticeBody, PreviewBody, RuleBody, WordBody

router = APIRouter(tags=["texts"])
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@router.post("/annotate", response_model=AnnotateAnswer, response_model_exclude_none=True, summary="Find entities")
async def annotate(body: AnnotateBody, request: Request) -> Response:
    """Entities of one or more texts, in the order of the texts, all under one version of the dictionary. A text that
    cannot be processed has an `error`, and the others have their entities; if there is only `text`, the status is 422.
    """
    service, texts = service_of(request), body.all_texts
    check_texts(service, texts, explained=body.explain == "changes")
    together = [texts], [body.texts is None]
    [(status, content)] = await annotate_together(service, metrics_of(request), body.wanted, *together)
    return Response(content, status, media_type="application/json" if status == 200 else MEDIA_TYPE)


async def annotate_together(
    service: Service, metrics: Metrics, wanted: Wanted, requests: Sequence[Sequence[str]], single: Sequence[bool]
) -> List[Tuple[int, bytes]]:
    """Answer requests that want the same for their texts, under one version of the dictionary. Raises Problem if the
    pipeline cannot do this, or takes too long.

    service (Service): The service.
    metrics (Metrics): Its metrics.
    wanted (Wanted): What to return for each text.
    requests (Sequence[Sequence[str]]): The texts of each request.
    single (Sequence[bool]): Whether each request has a single text, not a list.
    RETURNS (List[Tuple[int, bytes]]): Status and content of each answer.
    """
    for name, asked in (
        ("alternatives", wanted.alternatives > 0),
        ("uncertain", wanted.uncertain is not None),
        ("explain", wanted.explain is not None),
    ):
        _check_can(service, name, asked)
    task = Annotation(service.model, service.model.matcher, wanted)
    found = [_describe(result) for result in await run(service, task, [text for texts in requests for text in texts])]
    metrics.count_answers(found)
    answers, place = [], 0
    for texts, alone in zip(requests, single):
        results = found[place : place + len(texts)]
        place += len(texts)
        if alone and "error" in results[0]:
            answers.append((422, to_bytes(results[0]["error"])))
        else:
            answers.append((200, to_bytes({"lex_version": task.version, "results": results})))
    return answers


@router.post(
    "/lattice",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
    summary="Draw the lattice of a text",
)
async def lattice(body: LatticeBody, request: Request) -> Response:
    """An SVG of the characters, dictionary words and entities of a text. Everything is escaped."""
    service = service_of(request)
    check_texts(service, [body.text])
    _check_can(service, "explain", body.explain)
    options = body.style, body.theme, body.width, body.css, body.explain
    task = Drawing(service.model, service.model.matcher, *options)
    (picture,) = await run(service, task, [body.text])
    if isinstance(picture, Exception):
        raise Problem(422, "text-failed", _reason(picture))
    headers = {"X-Lexicon-Version": task.version or "", "Content-Security-Policy": SVG_POLICY}
    return Response(picture, media_type="image/svg+xml", headers=headers)


@router.get("/lattice.css", response_class=Response, responses={200: {"content": {"text/css": {}}}})
async def lattice_css(theme: str = "auto") -> Response:
    """The style sheet for pictures drawn without one."""
    if theme not in THEMES:
        raise Problem(422, "unknown-theme", f"theme: {theme[:80]!r}; expected one of {', '.join(THEMES)}.")
    return Response(render("lattice.css.jinja", theme=theme), media_type="text/css")


@router.post("/preview", response_model=PreviewAnswer, summary="Try a change on texts")
async def preview(body: PreviewBody, request: Request) -> Response:
    """Entities of the texts before and after a change to the dictionary, which is not made."""
    service = service_of(request)
    dictionary = require_dictionary(service)
    check_texts(service, body.texts)
    edit = to_edit(service, body.add_words, body.remove_words, body.add_rules, body.remove_rules, replace=body.replace)
    model = service.model
    trial = await asyncio.to_thread(dictionary.try_out, edit)
    wanted = Wanted(utf16=body.offsets == "utf16")
    before, after = (Annotation(model, matcher, wanted) for matcher in trial)
    found = await asyncio.gather(*(run(service, task, body.texts) for task in (before, after)))  # in the time of one
    for result in (*found[0], *found[1]):
        if isinstance(result, Exception):
            raise Problem(422, "text-failed", _reason(result))
    results = [_effect(old["entities"], new["entities"]) for old, new in zip(*found)]
    n_changed = sum(result["changed"] for result in results)
    return to_json({"lex_version": before.version, "changed": n_changed, "of": len(results), "results": results})


async def run(service: Service, task: Task, texts: Sequence[str]) -> List[Any]:
    """Run a task on texts. Raises Problem if it takes too long."""
    try:
        return await service.run(task, texts)
    except (asyncio.TimeoutError, TimeoutError):
        raise too_slow(service.settings.limits.seconds) from None


def check_texts(service: Service, texts: Sequence[str], *, explained: bool = False) -> None:
    """Raise Problem if there are too many texts, or they are too long."""
    limits = service.settings.limits
    if len(texts) > limits.texts:
        raise Problem(
            413,
            "too-many-texts",
            f"{len(texts)} texts; expected at most {limits.texts}. Send them in several requests.",
            limit=limits.texts,
        )
    size, most = sum(map(len, texts)), limits.explain_characters if explained else limits.characters
    if size > most:
        remedy = "Explain shorter texts." if explained else "Send them in several requests."
        raise Problem(413, "too-many-characters", f"{size} characters; expected at most {most}. {remedy}", limit=most)


def to_edit(
    service: Service,
    add_words: Sequence[Any] = (),
    remove_words: Sequence[str] = (),
    add_rules: Sequence[RuleBody] = (),
    remove_rules: Sequence[str] = (),
    *,
    replace: bool = False,
) -> Edit:
    """Make an edit. Raises Problem if it has too many words, or none."""
    n, most = sum(map(len, (add_words, remove_words, add_rules, remove_rules))), service.settings.limits.words
    if n > most:
        raise Problem(413, "too-many-words", f"{n} words; expected at most {most}. Upload them as a file.", limit=most)
    if not n:
        raise Problem(422, "no-words", "Give words or rules to add or remove.")
    fields = [WordFields(word) if isinstance(word, str) else _fields(word) for word in add_words]
    rules = [WordRule(rule.word, rule.mode, rule.label, rule.weight) for rule in add_rules]
    return Edit(tuple(remove_words), tuple(fields), tuple(remove_rules), tuple(rules), replace)


def _fields(word: WordBody) -> WordFields:
    return WordFields(word.word, word.labels, word.weight, word.entity_id)


def _check_can(service: Service, name: str, wanted: bool) -> None:
    if wanted and not service.model.can[name]:
        raise Problem(422, "unsupported", f"{name}: the pipeline of this service has no component that can do this.")


def _describe(result: Any) -> Dict[str, Any]:
    if isinstance(result, Exception):
        return {"error": Problem(422, "text-failed", _reason(result)).body}
    return result


def _reason(error: Exception) -> str:
    own = f": {error}" if isinstance(error, TextError) else "; see the log of the service"
    return f"This text could not be processed{own}."


def _effect(before: List[Dict[str, Any]], after: List[Dict[str, Any]]) -> Dict[str, Any]:
    old, new = ([(ent["start"], ent["end"], ent["label"]) for ent in side] for side in (before, after))
    return {"changed": old != new, "before": before, "after": after}


def to_json(content: Any) -> Response:
    """Make an answer without validating it by `response_model`, which would take longer than annotating short texts."""
    return Response(to_bytes(content), media_type="application/json")


def to_bytes(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf8")
