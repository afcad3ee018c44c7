"""Drafts: texts annotated by a model, with its uncertainty."""

from contextlib import contextmanager
from math import exp, inf
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Sequence, Set

from spacy.language import Language
from spacy.tokens import Doc

from ..candidates.storage import get_candidates
from ..formats.docs import read_doc
from ..formats.record import Entity
from ..formats.report import Report
from ..formats.task import Task
from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.exact_offsets import get_offsets
from ..pipeline.lexicon_pipe import find_matchers
from ..pipeline.ner.lex_ner import LexNER
from .select import Candidate

BATCH = 1000


class Draft(NamedTuple):
    """A text that a model annotated."""

    task: Task  # the text with its entities and their scores
    # The path margin: the difference in log-probability between the best and the second best path of tags (Scheffer et
    # al. 2001; for sequences Settles and Craven 2008). Infinite if only one path is possible.
    margin: float
    words: FrozenSet[int]  # the hashes of its candidate words

    @property
    def candidate(self) -> Candidate:
        """The input of `choose`."""
        return Candidate(exp(-self.margin), self.words)


def make_drafts(nlp: Language, texts: Sequence[str], failed: Dict[int, str]) -> Iterator[Draft]:
    """Annotate texts, in order, with a pipeline that has a `lex_ner` (otherwise ValueError). Texts that cannot be
    processed are left out; `failed` gets their numbers and errors."""
    report = Report()
    with two_best_paths(nlp):
        for i, doc in annotate_texts(nlp, texts, failed):
            by_place = {Entity(*get_offsets(ent), ent.label_): ent._.lex_score for ent in doc.ents}
            record = read_doc(doc, f"text {i + 1}", report)._replace(entities=sorted(by_place))
            scores = [by_place[entity] for entity in sorted(by_place)]
            stored = get_candidates(doc)
            words = frozenset(stored[1].hashes.tolist()) if stored is not None else frozenset()
            yield Draft(Task(record, scores, predicted=True), read_margin(doc), words)


@contextmanager
def two_best_paths(nlp: Language) -> Iterator[None]:
    """Make the last `lex_ner` of a pipeline find at least the two best paths within a `with` block. Raises ValueError
    if the pipeline has none."""
    pipes: List[LexNER] = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LexNER)]
    if not pipes:
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise ValueError(f"The pipeline has no lex_ner, only {names}, so nothing measures its uncertainty of a text.")
    before = pipes[-1].n_alternatives
    pipes[-1].n_alternatives = max(2, before)
    try:
        yield
    finally:
        pipes[-1].n_alternatives = before


def read_margin(doc: Doc) -> float:
    """RETURNS (float): The path margin of a Doc, from `doc._.lex_alternatives`; infinite if there is only one path."""
    paths = doc._.lex_alternatives
    return paths[0].log_probability - paths[1].log_probability if len(paths) > 1 else inf


def find_words(nlp: Language, texts: Iterable[str]) -> Set[int]:
    """RETURNS (Set[int]): The hashes of the lexicon words in texts; empty if the pipeline has no lexicon."""
    matchers = [pipe.source.matcher for pipe in find_matchers(nlp).values() if pipe.source.matcher is not None]
    words: Set[int] = set()
    if matchers:
        texts = list(texts)
        for low in range(0, len(texts), BATCH):
            words.update(matchers[-1].match(texts[low : low + BATCH])[0].hashes.tolist())
    return words
