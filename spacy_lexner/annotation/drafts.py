"""Texts as a model annotates them, with how much it is in doubt."""

from contextlib import contextmanager
from math import exp, inf
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Sequence, Set

from spacy.language import Language
from spacy.tokens import Doc

from ..candidates.storage import get_candidates
from ..formats.docs import read_doc
from ..formats.report import Report
from ..formats.task import Task
from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.matcher.find_matchers import find_matchers
from ..pipeline.ner.lex_ner import LexNER
from .select import Candidate

BATCH = 1000


class Draft(NamedTuple):
    """A text that a model annotated.

    task (Task): The text with its entities and their scores.
    margin (float): The path margin: by how much the score of the best path of tags is above that of the second best,
        which is the difference of their log-probabilities (Scheffer et al. 2001, for sequences Settles and Craven
        2008). Infinity where no other is possible.
    words (FrozenSet[int]): The candidate words in it.
    """

    task: Task
    margin: float
    words: FrozenSet[int]

    @property
    def candidate(self) -> Candidate:
        """RETURNS (Candidate): What the choice depends on."""
        return Candidate(exp(-self.margin), self.words)


def make_drafts(nlp: Language, texts: Sequence[str], failed: Dict[int, str]) -> Iterator[Draft]:
    """Annotate texts.

    nlp (Language): A pipeline with `lex_ner`. Raises ValueError for another one.
    texts (Sequence[str]): The texts.
    failed (Dict[int, str]): Gets the numbers of those that could not be processed, and why.
    YIELDS (Draft): The others, in order.
    """
    report = Report()
    with two_readings(nlp):
        for i, doc in annotate_texts(nlp, texts, failed):
            record = read_doc(doc, f"text {i + 1}", report)
            scores = {(ent.start_char, ent.end_char, ent.label_): ent._.lex_score for ent in doc.ents}
            stored = get_candidates(doc)
            words = frozenset(stored[1].hashes.tolist()) if stored is not None else frozenset()
            ranked = [scores[entity] for entity in record.entities or []]
            yield Draft(Task(record, ranked, predicted=True), read_margin(doc), words)


@contextmanager
def two_readings(nlp: Language) -> Iterator[None]:
    """Let the last `lex_ner` of a pipeline give at least the two best readings of Docs for a while.

    nlp (Language): The pipeline. Raises ValueError if it has none.
    YIELDS (None): While it does.
    """
    pipes: List[LexNER] = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LexNER)]
    if not pipes:
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise ValueError(f"The pipeline has no lex_ner, only {names}: nothing says how sure it is of a whole text.")
    before = pipes[-1].n_alternatives
    pipes[-1].n_alternatives = max(2, before)
    try:
        yield
    finally:
        pipes[-1].n_alternatives = before


def read_margin(doc: Doc) -> float:
    """RETURNS (float): The path margin of a Doc with at least two readings (`doc._.lex_alternatives`)."""
    readings = doc._.lex_alternatives
    return readings[0].log_probability - readings[1].log_probability if len(readings) > 1 else inf


def find_words(nlp: Language, texts: Iterable[str]) -> Set[int]:
    """RETURNS (Set[int]): The words of the lexicon in texts; none where the pipeline has no lexicon."""
    matchers = [pipe.source.matcher for pipe in find_matchers(nlp).values() if pipe.source.matcher is not None]
    words: Set[int] = set()
    if matchers:
        texts = list(texts)
        for low in range(0, len(texts), BATCH):
            words.update(matchers[-1].match(texts[low : low + BATCH])[0].hashes.tolist())
    return words
