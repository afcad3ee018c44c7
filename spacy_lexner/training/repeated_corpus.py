"""`spacy-lexner.RepeatedCorpus.v1`: a corpus that begins again at its end, so that an epoch is a number of updates."""

from typing import Iterator

from spacy.language import Language
from spacy.training import Example

from .collect_texts import CorpusT


def create_repeated_corpus(corpus: CorpusT) -> "RepeatedCorpus":
    """Create a reader that never ends. It needs a batcher that does: `spacy-lexner.limit_batches.v1`.

    Without it a small text would end each epoch early, and a run of 10,000 updates would stop after a few hundred, with
    a learning rate that has hardly begun to fall.

    corpus (Callable[[Language], Iterable[Example]]): The reader to repeat. One that shuffles gives another order each
        time.
    RETURNS (RepeatedCorpus): The reader.
    """
    return RepeatedCorpus(corpus)


class RepeatedCorpus:
    """Reads a corpus again and again. See `create_repeated_corpus`."""

    def __init__(self, corpus: CorpusT) -> None:
        self.corpus = corpus

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read without end.

        nlp (Language): The pipeline.
        YIELDS (Example): The examples. Raises ValueError where the corpus has none.
        """
        while True:
            example = None
            for example in self.corpus(nlp):
                yield example
            if example is None:
                raise ValueError("The corpus to repeat gave no text at all: see the path in its section of [corpora].")
