"""A pipeline over many texts, whatever becomes of single ones."""

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, cast

from spacy.language import Language
from spacy.tokens import Doc


def annotate_texts(
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
