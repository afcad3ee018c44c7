"""Scores of words and their parts of speech."""

from collections import defaultdict
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike
from spacy.attrs import ORTH
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from .gold_words import check_texts, is_segmented, solid_offsets, word_offsets
from .parts_of_speech import PARTS_OF_SPEECH, PartOfSpeech

# A word is identified by its first character and one past its last, counted without white space.
Words = Dict[Tuple[int, int], str]


def lex_segmenter_score(
    examples: Iterable[Example],
    *,
    pos: Optional[str] = "pos",
    retokenize: bool = True,
    spans_key: str = "lex_words",
    known_words: ArrayLike = (),
    **kwargs: Any,
) -> Dict[str, Any]:
    """Compute precision, recall and F-score of words, and of words with their parts of speech. White space is not a
    word. Reference Docs in characters do not count; nor, for parts of speech, do gold words without one.

    examples (Iterable[Example]): Predicted and annotated Docs.
    pos (Optional[str]): The part of speech: "pos", "tag" or None.
    retokenize (bool): Whether the predicted words are the tokens of the Doc, or spans of it.
    spans_key (str): The key of the spans.
    known_words (ArrayLike): spaCy's hashes of the words of the training texts.
    RETURNS (Dict[str, Any]): `word_p`, `word_r`, `word_f`; `word_oov_r`, the recall of unknown words; `word_pos_p`,
        `word_pos_r`, `word_pos_f`, `word_pos_per_type`. None if there is nothing to count.
    """
    part = PARTS_OF_SPEECH.get(pos or "")
    known = np.asarray(known_words, dtype=np.uint64)
    words, new, tagged = PRFScore(), PRFScore(), PRFScore()
    per_type: Dict[str, PRFScore] = defaultdict(PRFScore)
    for example in examples:
        predicted, reference = example.predicted, example.reference
        check_texts(predicted, reference)
        if not is_segmented(reference):
            continue
        gold = token_words(reference, part)
        found = token_words(predicted, part) if retokenize else span_words(predicted, spans_key)
        words.score_set(set(found), set(gold))
        orths = reference.to_array([ORTH]).reshape(-1)[word_offsets(reference)[2]]
        unseen = {edges for edges, orth in zip(gold, ~np.isin(orths, known)) if orth}
        new.score_set(unseen & set(found), unseen)
        count_tagged(tagged, per_type, found, gold)
    scores = {**_prf("word", words), "word_oov_r": new.recall if len(known) and len(new) else None}
    if part is None or not len(tagged):
        return {**scores, **_prf("word_pos", PRFScore()), "word_pos_per_type": None}
    by_type = {label: score.to_dict() for label, score in sorted(per_type.items())}
    return {**scores, **_prf("word_pos", tagged), "word_pos_per_type": by_type}


def token_words(doc: Doc, part: Optional[PartOfSpeech]) -> Words:
    """The tokens of a Doc, each with its part of speech, "" without one."""
    begins, ends, tokens = word_offsets(doc)
    labels = [""] * len(tokens)
    if part is not None:
        labels = [part.label(number, doc.vocab.strings) for number in part.read(doc)[tokens].tolist()]
    return dict(zip(zip(begins.tolist(), ends.tolist()), labels))


def span_words(doc: Doc, key: str) -> Words:
    """The spans of a Doc under a key, each with its label."""
    begins, ends = (offsets.tolist() for offsets in solid_offsets(doc))
    return {(begins[span.start], ends[span.end - 1]): span.label_ for span in doc.spans.get(key, ())}


def count_tagged(score: PRFScore, per_type: Dict[str, PRFScore], found: Words, gold: Words) -> None:
    """Add words with their parts of speech to scores, except words without one in the annotation."""
    if not any(gold.values()):
        return
    right = {(edges, label) for edges, label in gold.items() if label}
    given = {(edges, label) for edges, label in found.items() if gold.get(edges) != ""}
    score.score_set(given, right)
    for label in {label for _, label in right | given}:
        per_type[label].score_set(*({word for word in words if word[1] == label} for words in (given, right)))


def _prf(name: str, score: PRFScore) -> Dict[str, Optional[float]]:
    values = (score.precision, score.recall, score.fscore) if len(score) else (None, None, None)
    return dict(zip((f"{name}_p", f"{name}_r", f"{name}_f"), values))


def create_lex_segmenter_scorer() -> Callable[..., Dict[str, Any]]:
    """RETURNS (Callable): The function `lex_segmenter_score`."""
    return lex_segmenter_score
