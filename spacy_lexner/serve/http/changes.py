"""Endpoints of the dictionary: /words, /rules, /changes, /undo, /diff."""

import asyncio
import logging
from typing import Annotated, Any, Callable, Dict, List, Literal, Optional, Sequence

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ...lexicon.compare import compare, describe_diff
from ..dictionary.dictionary import Dictionary
from ..dictionary.edits import Edit
from ..dictionary.history import Change
from ..dictionary.search import find_rules, find_words
from ..dictionary.uploads import Columns, Upload, read_rules_file, read_words_file
from ..problem import Problem
from .answers import ChangeAnswer, ChangesAnswer, DiffAnswer, RulesAnswer, WordsAnswer
from .auth import check_token
from .context import metrics_of, require_dictionary, service_of
from .schemas import RemovalBody, RulesBody, UndoBody, WordsBody
from .texts import to_edit, to_json

logger = logging.getLogger(__name__)
router = APIRouter(tags=["dictionary"])
Offset = Annotated[int, Query(ge=0, le=1_000_000_000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Column = Annotated[str, Query(max_length=200, description="A column of a table: its number from 0, or its name")]
FILE: Dict[str, Any] = {
    "requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string", "format": "binary"}}}}
}


def may_change(request: Request) -> Dictionary:
    """The dictionary. Raises Problem unless the request may change it."""
    settings = service_of(request).settings
    check_token(request, settings.token if settings.state is not None else None)
    return require_dictionary(service_of(request))


def words_to_remove(
    word: Annotated[Sequence[str], Query(description="For many words, use the body")] = (),
    body: RemovalBody = RemovalBody(),  # noqa: B008 (never changed)
) -> List[str]:
    """The words of the query and the body."""
    return [*word, *body.words]


def table_columns(
    word_column: Column = "", label_column: Column = "", weight_column: Column = "", entity_id_column: Column = ""
) -> Columns:
    """The columns of a table that were named, as its reader takes them."""
    given = {"word": word_column, "label": label_column, "weight": weight_column, "entity_id": entity_id_column}
    return {name: int(column) if column.isdecimal() else column for name, column in given.items() if column}


MayChange = Annotated[Dictionary, Depends(may_change)]
ToRemove = Annotated[List[str], Depends(words_to_remove)]
TableColumns = Annotated[Columns, Depends(table_columns)]


@router.get("/words", response_model=WordsAnswer, summary="Find words")
async def get_words(
    request: Request,
    q: str = "",
    mode: Literal["contains", "prefix", "exact"] = "contains",
    changed: bool = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> Response:
    """Words of the dictionary; with `changed` only those changed at run time, including removed ones."""
    dictionary = require_dictionary(service_of(request))
    page = await asyncio.to_thread(find_words, dictionary, q, mode, changed, offset, limit)
    total = len(dictionary.matcher.lexicon)
    found = {"total": total, "offset": offset, "words": page.rows, "next": page.next}
    return to_json({"lex_version": dictionary.version, **found})


@router.post("/words", response_model=ChangeAnswer, summary="Add or change words")
async def add_words(body: WordsBody, request: Request, dictionary: MayChange) -> Response:
    return await _make(request, dictionary, "add_words", to_edit(service_of(request), add_words=body.words))


@router.delete("/words", response_model=ChangeAnswer, summary="Remove words")
async def remove_words(request: Request, dictionary: MayChange, words: ToRemove) -> Response:
    """Words and their rules are removed. Unknown words are ignored; if all are unknown, the status is 404."""
    return await _make(request, dictionary, "remove_words", to_edit(service_of(request), remove_words=words))


@router.post("/words/upload", response_model=ChangeAnswer, openapi_extra=FILE, summary="Add the words of a file")
async def upload_words(
    request: Request, dictionary: MayChange, columns: TableColumns, name: str = "words.txt", label: str = ""
) -> Response:
    """The body is a list of words, a jieba dictionary or a table (`name` ends in .csv, or tabs separate the columns),
    UTF-8. `label` is the label of words without one. Of a table with several columns, name those to read, by number
    from 0 or by their name in the first row: `label_column`, `weight_column`, `entity_id_column`, and `word_column`
    unless it is the first."""
    lexicon = dictionary.matcher.lexicon
    return await _upload(request, dictionary, "upload_words", read_words_file, name, lexicon, label, columns)


@router.get("/rules", response_model=RulesAnswer, summary="Find rules")
async def get_rules(request: Request, q: str = "", offset: Offset = 0, limit: Limit = 50) -> Response:
    """Rules of the words that contain `q`."""
    dictionary = require_dictionary(service_of(request))
    page = await asyncio.to_thread(find_rules, dictionary, q, offset, limit)
    return to_json({"lex_version": dictionary.version, "offset": offset, "rules": page.rows, "next": page.next})


@router.post("/rules", response_model=ChangeAnswer, summary="Add rules")
async def add_rules(body: RulesBody, request: Request, dictionary: MayChange) -> Response:
    """The rules are added to those of their words; with `replace` they replace them. Unknown words are added. Rules
    that cannot both be followed are refused with 409."""
    edit = to_edit(service_of(request), add_rules=body.rules, replace=body.replace)
    return await _make(request, dictionary, "add_rules", edit)


@router.delete("/rules", response_model=ChangeAnswer, summary="Remove the rules of words")
async def remove_rules(request: Request, dictionary: MayChange, words: ToRemove) -> Response:
    """All rules of the words are removed; the words stay."""
    return await _make(request, dictionary, "remove_rules", to_edit(service_of(request), remove_rules=words))


@router.post("/rules/upload", response_model=ChangeAnswer, openapi_extra=FILE, summary="Add the rules of a file")
async def upload_rules(request: Request, dictionary: MayChange, name: str = "rules.tsv") -> Response:
    """The body is a dictionary file: word, mode, label, weight on each line, separated by tabs. Its rules replace all
    rules of its words."""
    return await _upload(request, dictionary, "upload_rules", read_rules_file, name)


@router.get("/changes", response_model=ChangesAnswer, summary="The latest changes")
async def get_changes(request: Request, limit: Limit = 20) -> Response:
    """The latest first."""
    dictionary = require_dictionary(service_of(request))
    history = dictionary.history
    changes = [history.describe(change) for change in list(history)[: -limit - 1 : -1]]
    return to_json({"lex_version": dictionary.version, "changes": changes})


@router.post("/undo", response_model=ChangeAnswer, summary="Undo a change")
async def undo(body: UndoBody, request: Request, dictionary: MayChange) -> Response:
    """The words of the change become exactly what they were before it. If later changes affect the same words, 409."""
    return await _change(request, dictionary, lambda: dictionary.undo(body.change))


@router.get("/diff", response_model=DiffAnswer, summary="Compare two versions of the dictionary")
async def diff(
    request: Request, start: Annotated[str, Query(alias="from")] = "", to: str = "", limit: Limit = 100
) -> Response:
    """Versions are those in /changes, or numbers of changes; by default the model's own dictionary and the current
    one."""
    dictionary = require_dictionary(service_of(request))
    old, new = await asyncio.to_thread(dictionary.lexicons, start, to)
    return to_json(describe_diff(compare(old, new), limit))


async def _make(request: Request, dictionary: Dictionary, kind: str, edit: Edit) -> Response:
    return await _change(request, dictionary, lambda: dictionary.change(kind, edit))


async def _upload(
    request: Request, dictionary: Dictionary, kind: str, read: Callable[..., Upload], *args: Any
) -> Response:
    data = await request.body()

    def change() -> Optional[Change]:
        upload = read(data, *args)
        skipped.update(upload.skipped)
        return dictionary.change(kind, upload.edit)

    skipped: Dict[str, int] = {}
    return await _change(request, dictionary, change, skipped=skipped)


async def _change(
    request: Request, dictionary: Dictionary, change: Callable[[], Optional[Change]], **more: Any
) -> Response:
    try:
        made = await asyncio.to_thread(change)
    except OSError as error:
        logger.error("The dictionary was not changed, since the state directory cannot be written: %s", error)
        raise Problem(
            507, "not-kept", "The change could not be written to the state directory, so nothing was changed."
        ) from None
    if made is not None:
        metrics_of(request).count_change(made.kind)
    version = dictionary.version if made is None else made.version_after
    described = None if made is None else dictionary.history.describe(made)
    return to_json({"change": described, "lex_version": version, **more})
