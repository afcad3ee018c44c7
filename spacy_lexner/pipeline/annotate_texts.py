"""Running a pipeline over many texts, some of which may fail."""

from typing import Dict, Iterator, Optional, Sequence, Tuple, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

ResultT = TypeVar("ResultT")
Numbered = Tuple[Optional[int], ResultT]


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
        try:
            docs = ((nlp.make_doc(texts[i]), i) for i in numbers)
            found = [(i, doc) for doc, i in nlp.pipe(docs, as_tuples=True, batch_size=size)]
        except Exception:
            found = []  # retry the texts one by one to find those at fault
        done = dict(number_results(found, numbers))
        for i in numbers:
            try:
                yield i, done[i] if i in done else annotate_alone(nlp, texts[i])
            except ComponentError as error:
                failed[i] = str(error)


def number_results(found: Sequence[Numbered[ResultT]], numbers: Sequence[int]) -> Sequence[Numbered[ResultT]]:
    """Number the results of `nlp.pipe(..., as_tuples=True)`, from which an error handler may have left out some texts.

    found (Sequence[Tuple[Optional[int], ResultT]]): The results in order, with the numbers that spaCy kept: None for a
        Doc that a component has made.
    numbers (Sequence[int]): The numbers of all texts, in order.
    RETURNS (Sequence[Tuple[Optional[int], ResultT]]): If no text is left out, the results with all their numbers;
        otherwise `found`.
    """
    return list(zip(numbers, (each for _, each in found))) if len(found) == len(numbers) else found


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
