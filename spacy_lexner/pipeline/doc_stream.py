"""Running a stream of Docs through a component: in batches, and one by one if a batch fails."""

from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, TypeVar

from spacy.tokens import Doc
from spacy.util import minibatch

PredictionT = TypeVar("PredictionT")


def annotate_stream(
    stream: Iterable[Doc],
    batch_size: int,
    predict: Callable[[List[Doc]], Sequence[PredictionT]],
    annotate: Callable[[Doc, PredictionT], Doc],
    handle_error: Callable[[List[Doc], Exception], Any],
) -> Iterator[Doc]:
    """YIELDS (Doc): The Docs, in order, as `annotate` returns them. Each failing Doc is passed to `handle_error`."""
    predictions: Sequence[Optional[PredictionT]]
    for docs in minibatch(stream, size=batch_size):
        try:
            predictions = predict(docs)
        except Exception:  # retry the Docs one by one to find those at fault
            predictions = [None] * len(docs)
        for doc, prediction in zip(docs, predictions):
            try:
                annotated = annotate(doc, predict([doc])[0] if prediction is None else prediction)
            except Exception as error:
                handle_error([doc], error)
            else:
                yield annotated
