"""What a pipeline finds in texts, whatever becomes of single ones."""

import time
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, cast

from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..visualize.lattice import Mark, read_marks


class Predictions(NamedTuple):
    """What a pipeline found.

    marks (List[List[Mark]]): The entities of each text.
    seconds (float): How long it took.
    failed (Dict[int, str]): The texts that the pipeline could not process, and why. They have no entities.
    """

    marks: List[List[Mark]]
    seconds: float
    failed: Dict[int, str]


def predict(
    nlp: Language,
    texts: Sequence[str],
    *,
    label_map: Optional[Mapping[str, str]] = None,
    batch_size: Optional[int] = None,
    title: str = "texts",
) -> Predictions:
    """Run a pipeline over texts.

    nlp (Language): Any pipeline that sets `doc.ents`.
    texts (Sequence[str]): The texts.
    label_map (Optional[Mapping[str, str]]): Labels to rename, such as PERSON to PER.
    batch_size (Optional[int]): Texts to process at once; by default as the pipeline says.
    title (str): What the progress bar says.
    RETURNS (Predictions): What it found.
    """
    marks: List[List[Mark]] = [[] for _ in texts]
    failed: Dict[int, str] = {}
    start = time.perf_counter()
    with tqdm(total=len(texts), desc=title, unit=" texts", disable=None, leave=False) as bar:
        for i, doc in annotate(nlp, texts, failed, batch_size):
            marks[i] = [_rename(mark, label_map or {}) for mark in read_marks(doc.ents)]
            bar.update()
    return Predictions(marks, time.perf_counter() - start, failed)


def annotate(
    nlp: Language, texts: Sequence[str], failed: Dict[int, str], batch_size: Optional[int] = None
) -> Iterator[Tuple[int, Doc]]:
    """Run a pipeline over texts; one that fails does not take others along.

    nlp (Language): The pipeline.
    texts (Sequence[str]): The texts.
    failed (Dict[int, str]): Gets the texts that could not be processed, and why.
    batch_size (Optional[int]): Texts to process at once; by default as the pipeline says.
    YIELDS (Tuple[int, Doc]): The number of a text, and its Doc.
    """
    handlers = {name: pipe.get_error_handler() for name, pipe in nlp.pipeline if hasattr(pipe, "get_error_handler")}
    default = nlp.default_error_handler

    def collect(name: str, _: Any, docs: List[Doc], error: Exception) -> None:
        for doc in docs:
            failed[doc._context] = f"{name}: {error}"

    nlp.set_error_handler(cast(Any, collect))  # spaCy's own annotation of handlers does not fit its handlers
    try:
        for doc, i in nlp.pipe(_make_docs(nlp, texts, failed), as_tuples=True, batch_size=batch_size):
            yield i, doc
    finally:
        nlp.default_error_handler = default
        for name, handler in handlers.items():
            cast(Any, nlp.get_pipe(name)).set_error_handler(handler)


def _make_docs(nlp: Language, texts: Sequence[str], failed: Dict[int, str]) -> Iterator[Tuple[Doc, int]]:
    for i, text in enumerate(texts):
        try:
            doc = nlp.make_doc(text)
        except Exception as error:
            failed[i] = f"tokenizer: {error}"
        else:
            yield doc, i


def _rename(mark: Mark, label_map: Mapping[str, str]) -> Mark:
    return mark._replace(label=label_map.get(mark.label, mark.label))
