"""Running a pipeline over many texts, some of which may fail."""

from typing import Dict, Iterator, Optional, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch


def annotate_texts(
    nlp: Language, texts: Sequence[str], failed: Dict[int, str], batch_size: Optional[int] = None
) -> Iterator[Tuple[int, Doc]]:
    """Run a pipeline over texts so that a failing text does not affect the others. Error handlers cannot do this, since
    not every spaCy component accepts one.

    nlp (Language): The pipeline.
    texts (Sequence[str]): The texts.
    failed (Dict[int, str]): Collects the error of each failing text, by its index.
    batch_size (Optional[int]): Texts per batch; by default the pipeline's.
    YIELDS (Tuple[int, Doc]): The index of each text that did not fail, and its Doc, in order.
    """
    size = nlp.batch_size if batch_size is None else batch_size
    for numbers in minibatch(range(len(texts)), size):
        done: Dict[int, Doc] = {}
        try:
            docs = ((nlp.make_doc(texts[i]), i) for i in numbers)
            done.update((i, doc) for doc, i in nlp.pipe(docs, as_tuples=True, batch_size=size))
        except Exception:
            done.clear()  # retry the texts one by one to find those at fault
        for i in numbers:
            try:
                yield i, done[i] if i in done else annotate_alone(nlp, texts[i])
            except ComponentError as error:
                failed[i] = str(error)


class ComponentError(Exception):
    """An error of the tokenizer or a component, whose name the message begins with."""


def annotate_alone(nlp: Language, text: str) -> Doc:
    """RETURNS (Doc): The annotated text. Raises ComponentError: error handlers are not called."""
    place = "tokenizer"
    try:
        doc = nlp.make_doc(text)
        for name, pipe in nlp.pipeline:
            place = name
            if (after := pipe(doc)) is None:
                raise ValueError("it returned no Doc: it has a fault, or passed its error to the error handler")
            doc = after
    except Exception as error:
        raise ComponentError(f"{place}: {str(error) or repr(error)}") from error
    return doc
