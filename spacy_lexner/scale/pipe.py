"""`nlp.pipe` in several processes, in which losing a process is an error.

`nlp.pipe(n_process=2)` waits forever for a worker that was killed, for example by the system for lack of memory: the
other workers hold the writing ends of its channel, so it never looks closed.
"""

import multiprocessing
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import (
    Any,
    Deque,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config, minibatch
from thinc.api import Config

from ..pipeline.annotate_texts import number_results
from ..pipeline.codecs import find_codecs_once
from .processes import WorkerError

ContextT = TypeVar("ContextT")
AHEAD = 2  # batches queued per worker
PackedDoc = Tuple[Dict[str, Any], Dict[Any, Any]]  # what spaCy saves of a Doc, and its user data
NumberedDoc = Tuple[Optional[int], PackedDoc]

_nlp: Optional[Language] = None  # of a worker


@overload
def pipe(
    nlp: Language,
    texts: Iterable[Union[str, Doc]],
    *,
    as_tuples: Literal[False] = ...,
    n_process: int = ...,
    batch_size: Optional[int] = ...,
) -> Iterator[Doc]: ...


@overload
def pipe(
    nlp: Language,
    texts: Iterable[Tuple[Union[str, Doc], ContextT]],
    *,
    as_tuples: Literal[True],
    n_process: int = ...,
    batch_size: Optional[int] = ...,
) -> Iterator[Tuple[Doc, ContextT]]: ...


def pipe(
    nlp: Language,
    texts: Iterable[Any],
    *,
    as_tuples: bool = False,
    n_process: int = 2,
    batch_size: Optional[int] = None,
) -> Iterator[Any]:
    """Annotate a stream of texts in several processes. If processes can be forked (Linux), they share the memory of the
    pipeline; otherwise each gets a copy.

    nlp (Language): The pipeline, on the CPU.
    texts (Iterable[Union[str, Doc]]): The texts.
    as_tuples (bool): The texts are pairs of a text and its context, and so are the Docs.
    n_process (int): The number of processes.
    batch_size (Optional[int]): Texts per batch; by default `nlp.batch_size`.
    YIELDS (Doc): The Docs, or pairs of a Doc and its context, in order. Raises WorkerError if a process is lost,
        TypeError for anything but a text or Doc, and the errors of components.
    """
    if n_process < 1:
        raise ValueError(f"n_process is {n_process}; expected at least 1.")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected at least 1.")
    pairs = texts if as_tuples else ((text, None) for text in texts)
    find_codecs_once()
    forked = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forked else "spawn")
    state = (nlp,) if forked else (nlp.config.to_str(), nlp.to_bytes())
    with ProcessPoolExecutor(n_process, context, _start_worker, state) as pool:
        running: Deque[Tuple[Future[Sequence[NumberedDoc]], List[Any]]] = deque()
        try:
            for batch in minibatch(enumerate(pairs), size=batch_size or nlp.batch_size):
                sent = [_send(number, text) for number, (text, _) in batch]
                running.append((pool.submit(_annotate, sent), [context for _, (_, context) in batch]))
                if len(running) >= n_process * AHEAD:
                    yield from _docs(nlp, *running.popleft(), as_tuples)
            while running:
                yield from _docs(nlp, *running.popleft(), as_tuples)
        except BrokenProcessPool:
            raise WorkerError(
                "A worker process ended without an answer: it was killed, perhaps for lack of memory. The Docs so far "
                "are complete and in order. Use fewer processes or smaller batches, or `spacy lexner annotate`, which "
                "can be resumed and quarantines a text that kills its process."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _send(number: int, text: Union[str, Doc]) -> Union[str, PackedDoc]:
    """Pack a text or Doc for another process. Raises TypeError for anything else."""
    if not isinstance(text, (str, Doc)):
        raise TypeError(f"Text {number} (from 0) is {text!r:.80}, of type {type(text).__name__}; expected str or Doc.")
    return _pack(text) if isinstance(text, Doc) else text


def _pack(doc: Doc) -> PackedDoc:
    """Take a Doc apart. Processes pickle what they send, and `Doc.to_bytes` takes ten times as long, most of it to look
    for codecs: of the user data's keys, of its values and of the whole."""
    return doc.to_dict(exclude=["user_data"]), doc.user_data


def _unpack(nlp: Language, packed: PackedDoc) -> Doc:
    saved, user_data = packed
    doc = Doc(nlp.vocab).from_dict(saved, exclude=["user_data"])
    doc.user_data.update(user_data)
    return doc


def _docs(
    nlp: Language, future: "Future[Sequence[NumberedDoc]]", contexts: Sequence[Any], as_tuples: bool
) -> Iterator[Any]:
    for index, packed in future.result():
        doc = _unpack(nlp, packed)
        yield (doc, None if index is None else contexts[index]) if as_tuples else doc


def _start_worker(*state: object) -> None:
    global _nlp
    find_codecs_once()
    if len(state) == 1:
        (_nlp,) = state  # type: ignore[assignment]
    else:
        config, data = state
        _nlp = load_model_from_config(Config().from_str(config)).from_bytes(data)  # type: ignore[arg-type]


def _annotate(texts: Sequence[Union[str, PackedDoc]]) -> Sequence[NumberedDoc]:
    """RETURNS (Sequence[Tuple[Optional[int], PackedDoc]]): The Docs, each with the index of its text: an error handler
    may have left out others. As in `nlp.pipe`, it is unknown (None) if a component has made a new Doc as well."""
    nlp = _nlp
    assert nlp is not None
    docs = [nlp.make_doc(text) if isinstance(text, str) else _unpack(nlp, text) for text in texts]
    numbers = range(len(docs))
    found = [(index, _pack(doc)) for doc, index in nlp.pipe(zip(docs, numbers), as_tuples=True)]
    return number_results(found, numbers)
