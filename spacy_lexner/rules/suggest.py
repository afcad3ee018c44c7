"""Suggestions of words to add to the lexicon because they resolve what a model is unsure of."""

import math
from contextlib import contextmanager
from typing import Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

from spacy.language import Language
from spacy.util import minibatch
from tqdm import tqdm

from ..lexicon.entry import LexiconEntry, find_word_fault
from ..lexicon.rule_file import find_line_fault
from ..pipeline.read_upto import read_upto
from .changes import find_ner, last_matcher

DOUBT = 0.05  # spans with a probability between this and 1 - DOUBT are in doubt
MAX_TEXTS = 20  # to try a word in
MIN_GAIN = 0.01  # bits; less may be rounding


class Suggestion(NamedTuple):
    """A word worth adding."""

    word: str
    gain: float  # the decrease in entropy of the spans in these texts, at most the first MAX_TEXTS, in bits
    label: str  # its most probable label once added; empty if it is not an entity
    probability: float  # of that label, on average over its occurrences
    n_texts: int  # number of texts in which it is a span in doubt
    example: str  # one of them


class Reading(NamedTuple):
    """A model's view of a text."""

    entropy: float  # the sum of that of its spans, in bits
    doubtful: Set[str]  # the texts of the spans in doubt
    spans: List[Tuple[str, str, float]]  # text, label and probability of all spans of at least the probability DOUBT


def suggest(nlp: Language, texts: Sequence[str], n: int = 50, *, n_tried: int = 500) -> List[Suggestion]:
    """Suggest words for the lexicon. Candidates are the strings of spans that the model is unsure of; each is added to
    the lexicon, as a plain hint, and the model rereads the texts that contain it.

    nlp (Language): A pipeline with `lex_matcher` and `lex_ner`; its lexicon is restored afterwards.
    texts (Sequence[str]): The texts.
    n (int): Maximum number of words to suggest.
    n_tried (int): Maximum number of words to try, those in the most uncertain texts first.
    RETURNS (List[Suggestion]): Words that help, the most helpful first.
    """
    matcher = last_matcher(nlp)
    longest = matcher.lexicon.max_word_length
    before = list(tqdm(read(nlp, texts), total=len(texts), unit=" texts", disable=None, leave=False))
    places: Dict[str, List[int]] = {}
    for i, reading in enumerate(before):
        for word in reading.doubtful:
            if len(word) > 1 and word not in matcher.lexicon and _can_be_added(word, longest):
                places.setdefault(word, []).append(i)
    tried = sorted(places, key=lambda word: (-sum(before[i].entropy for i in places[word]), word))[:n_tried]
    found = []
    for word in tqdm(tried, unit=" words", disable=None, leave=False):
        numbers = places[word][:MAX_TEXTS]
        own = [texts[i] for i in numbers]
        with with_word(nlp, word):
            after = list(read(nlp, own))
        gain = sum(before[i].entropy - now.entropy for i, now in zip(numbers, after))
        if gain >= MIN_GAIN:
            n_occurrences = sum(max(1, text.count(word)) for text in own)  # a tokenizer may change a text
            label, probability = most_probable(word, after, n_occurrences)
            found.append(Suggestion(word, gain, label, probability, len(places[word]), own[0]))
    return sorted(found, key=lambda each: (-each.gain, each.word))[:n]


@contextmanager
def with_word(nlp: Language, word: str) -> Iterator[None]:
    """Add a word to the lexicon within a `with` block."""
    matcher = last_matcher(nlp)
    present = matcher.replace_words([])
    matcher.use_words(matcher.replace_words([LexiconEntry(word)]))
    try:
        yield
    finally:
        matcher.use_words(present)


def read(nlp: Language, texts: Sequence[str]) -> Iterator[Reading]:
    """YIELDS (Reading): The model's view of each text."""
    ner = find_ner(nlp)
    for batch in minibatch(texts, nlp.batch_size):
        units, search = ner.search(read_upto(nlp, ner, text) for text in batch)
        for unit, likely in zip(units, search.spans_above(DOUBT)):
            spans = [(unit[span.start : span.end].text, ner.rule_scheme.labels[span.label], p) for span, p in likely]
            doubtful = {text for text, _, p in spans if p <= 1 - DOUBT}
            yield Reading(sum(_entropy(p) for *_, p in spans), doubtful, spans)


def most_probable(word: str, readings: Sequence[Reading], n_occurrences: int) -> Tuple[str, float]:
    """RETURNS (Tuple[str, float]): The most probable label of a word that occurs `n_occurrences` times in texts, and
    its mean probability; an empty label stands for no entity."""
    totals: Dict[str, float] = {}
    for reading in readings:
        for text, label, p in reading.spans:
            if text == word:
                totals[label] = totals.get(label, 0.0) + min(p, 1.0)
    means = {label: min(total / n_occurrences, 1.0) for label, total in totals.items()}
    means[""] = max(0.0, 1 - sum(means.values()))
    label = max(means, key=lambda label: (means[label], label))
    return label, means[label]


def _can_be_added(word: str, longest: int) -> bool:
    """Whether a lexicon and a dictionary file can hold a word."""
    return find_word_fault(word, longest) is None and not find_line_fault(word)


def _entropy(p: float) -> float:
    return -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)
