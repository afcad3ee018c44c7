"""What is measured for the card of a pipeline: scores, recall of what training has shown, errors, speed."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any, Dict, List, Optional, Sequence, Tuple

from evaluate import evaluate, find_spancats, mentions
from pipelines import read_examples
from spacy.language import Language
from spacy.training import Example

from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter
from spacy_lexner.report.bootstrap import resample
from spacy_lexner.report.counts import count
from spacy_lexner.report.errors import count_confusions, count_errors, pair
from spacy_lexner.report.gold import GoldText, read_gold
from spacy_lexner.report.gold import mentions as gold_mentions
from spacy_lexner.report.measure import Settings, describe_scores, measure
from spacy_lexner.visualize.lattice import read_marks

N_CONFUSIONS = 5
WORD_SCORES = ("word_p", "word_r", "word_f", "word_oov_r", "word_pos_f")


def measure_entities(nlp: Language, corpus: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): Scores of entities, recall of seen and unseen ones, calibration, errors, speed."""
    gold = list(read_gold(corpus / "test.spacy"))
    seen = gold_mentions(read_gold(corpus / "train.spacy"))
    return summarise(measure(nlp, gold, Settings(seen=seen, n_worst=0)).figures, gold, "ents")


def measure_spans(nlp: Language, corpus: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The same of the overlapping entities that `spancat` finds, except calibration. Raises
    ValueError if the test set has none."""
    key = find_spancats(nlp)[0].key
    docs = [each.reference for each in read_examples(nlp, corpus / "test.spacy") if key in each.reference.spans]
    if not any(doc.spans[key] for doc in docs):
        raise ValueError(f"{corpus / 'test.spacy'} has no entities under doc.spans[{key!r}], which spancat is to find.")
    gold = [GoldText(doc.text, read_marks(doc.spans[key]), []) for doc in docs]
    start = time.perf_counter()
    found = [read_marks(doc.spans[key]) for doc in nlp.pipe([text.text for text in gold])]
    seconds = time.perf_counter() - start
    counts = count(gold, found, mentions(read_examples(nlp, corpus / "train.spacy")))
    outcomes = [outcome for text, marks in zip(gold, found) for outcome in pair(text.marks, marks)]
    errors = {"errors": count_errors(outcomes), "confusions": count_confusions(outcomes), "confidence": None}
    return summarise({**describe_scores(counts, resample(counts)), **errors, "seconds": seconds}, gold, f"spans_{key}")


def summarise(figures: Dict[str, Any], gold: Sequence[GoldText], prefix: str) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): What a card needs of the figures of `measure`; `prefix` is what spaCy's names of these
    scores begin with."""
    confused = [(n, a, b) for a, row in figures["confusions"].items() for b, n in row.items() if a != b and a and b]
    confidence = figures["confidence"]
    labels = {label: add_number(row) for label, row in figures["labels"].items()}
    return {
        "scores": {
            **{f"{prefix}_{key}": figures["all"][key] for key in "prf"},
            f"{prefix}_per_type": {label: {key: row[key] for key in "prf"} for label, row in labels.items()},
        },
        "all": add_number(figures["all"]),
        "labels": labels,
        "interval": figures["all"]["spread"]["f"],
        "recall_seen": figures["seen"]["r"],
        "recall_unseen": figures["unseen"]["r"],
        "calibration": None if confidence is None else {"ece": confidence["ece"], "n": confidence["n"]},
        "errors": figures["errors"],
        "confused": [list(each) for each in sorted(confused, reverse=True)[:N_CONFUSIONS] if each[0]],
        "texts": len(gold),
        "characters_per_second": round(sum(len(text.text) for text in gold) / figures["seconds"]),
    }


def add_number(row: Dict[str, Any]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): A row of scores with `n`, the number in the test set."""
    return {**row, "n": row["found"] + row["missed"]}


def measure_words(nlp: Language, corpus: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): Scores of words and parts of speech, recall of seen and unseen words, speed."""
    examples = read_examples(nlp, corpus / "test.spacy")
    start = time.perf_counter()
    scores = evaluate(nlp, examples, set())
    seconds = time.perf_counter() - start
    by_type = scores.get("word_pos_per_type") or {}
    words = [token for example in examples for token in example.reference if not token.is_space]
    part = next(pipe.cfg["pos"] for _, pipe in nlp.pipeline if isinstance(pipe, LexSegmenter))
    numbers = Counter(token.tag_ if part == "tag" else token.pos_ for token in words)
    seen, unseen = recall_of_words(examples, read_examples(nlp, corpus / "train.spacy"))
    return {
        "scores": {name: scores.get(name) for name in WORD_SCORES} | {"word_pos_per_type": by_type},
        "all": {key: scores.get(f"word_{key}") for key in "prf"} | {"n": len(words)},
        "labels": {label: {**row, "n": numbers[label]} for label, row in by_type.items()},
        "recall_seen": seen,
        "recall_unseen": unseen,
        "calibration": None,
        "errors": {},
        "confused": [],
        "texts": len(examples),
        "characters_per_second": round(sum(len(example.reference.text) for example in examples) / seconds),
    }


def recall_of_words(examples: Sequence[Example], train: Sequence[Example]) -> Tuple[Optional[float], Optional[float]]:
    """RETURNS (Tuple[Optional[float], Optional[float]]): Recall of the words seen in training, and of the others; None
    if there are none."""
    known = {token.text for example in train for token in example.reference}
    found: Dict[bool, List[bool]] = {True: [], False: []}
    for example in examples:
        predicted = {(token.idx, token.idx + len(token)) for token in example.predicted}
        for token in example.reference:
            if not token.is_space:
                found[token.text in known].append((token.idx, token.idx + len(token)) in predicted)
    seen, unseen = (mean(map(float, found[kind])) if found[kind] else None for kind in (True, False))
    return seen, unseen
