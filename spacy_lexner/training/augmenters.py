"""`spacy-lexner.join_texts.v1`: joins training texts at random, so that a model can handle unrelated texts in one
Doc."""

import random
from typing import Callable, Iterator, List, Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..candidates.limits import JOINED

POOL = 64  # recent texts to join with

Augmenter = Callable[[Language, Example], Iterator[Example]]


def create_join_texts_v1(
    rate: float = 0.3,
    most: int = 4,
    separators: List[str] = ["", " ", "。"],  # noqa: B006 (never changed)
) -> Augmenter:
    """Create an augmenter that joins a training text with others, before or after it, at random. Users join titles,
    cells and comments in one Doc; a model trained on single texts misreads the borders between them.

    rate (float): Share of the texts that are joined with others; these are not also yielded on their own.
    most (int): Most texts to join into one.
    separators (List[str]): The possible separators, equally likely. Line ends are left out by default: if training has
        none, every line is read as a text of its own.
    RETURNS (Callable[[Language, Example], Iterator[Example]]): The augmenter, for `corpora.train.augmenter`.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate is {rate}; expected a share from 0 to 1.")
    if most < 2:
        raise ValueError(f"most is {most}; expected at least 2 texts.")
    if not separators:
        raise ValueError('separators is empty; expected at least one, such as "" for nothing.')
    pool: List[Example] = []

    def augment(nlp: Language, example: Example) -> Iterator[Example]:
        if pool and random.random() < rate:
            parts = [random.choice(pool) for _ in range(random.randint(1, most - 1))]
            parts.insert(random.randint(0, len(parts)), example)
            yield join_examples(nlp, parts, random.choice(separators))
        else:
            yield example
        if len(pool) < POOL:
            pool.append(example)
        else:
            pool[random.randrange(POOL)] = example

    return augment


def join_examples(nlp: Language, examples: Sequence[Example], separator: str) -> Example:
    """Join examples with all annotation of their tokens and spans. Categories (`doc.cats`), which are those of a whole
    text, are left out.

    nlp (Language): The pipeline, for the tokens of the separator.
    examples (Sequence[Example]): The examples.
    separator (str): The separator between their texts; " " adds a space only if a text does not end with one.
    RETURNS (Example): The joined example.
    """
    between = nlp.make_doc(separator if separator != " " else "")
    between.set_ents([], default="outside")

    def join(docs: List[Doc]) -> Doc:
        parts = [part for doc in docs for part in (between, doc)][1:] if len(between) else docs
        return Doc.from_docs(parts, ensure_whitespace=separator == " ", exclude=["user_data"])  # type: ignore[call-arg]

    predicted = join([eg.predicted for eg in examples])
    predicted.user_data[JOINED] = True
    return Example(predicted, join([eg.reference for eg in examples]))
