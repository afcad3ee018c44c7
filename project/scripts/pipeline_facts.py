"""Facts about a trained pipeline: measured on the test set, read from its config and from studies."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from statistics import mean
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import spacy
import torch
from evaluate import evaluate
from pipelines import read_examples
from spacy.language import Language
from spacy.training import Example
from study import read_results

import spacy_lexner
from spacy_lexner.pipeline.lexicon_pipe import find_lexicon
from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter
from spacy_lexner.report.gold import mentions, read_gold
from spacy_lexner.report.measure import Settings, measure

N_CONFUSIONS = 5
ENTITY_SCORES = {"ents_p": "p", "ents_r": "r", "ents_f": "f"}
WORD_SCORES = ("word_p", "word_r", "word_f", "word_oov_r", "word_pos_f")


class Training(NamedTuple):
    """A run of the workflow `train`: its data set and its config."""

    dataset: str
    config: str


def describe(nlp: Language, training: Training, corpus: Path) -> Dict[str, Any]:
    """Evaluate a pipeline on the test set.

    nlp (Language): The pipeline.
    training (Training): How it was trained.
    corpus (Path): The folder of its train, dev and test splits.
    RETURNS (Dict[str, Any]): The facts for a card: `scores` by spaCy's names, `labels`, and so on; JSON-serialisable.
    """
    words = any(isinstance(pipe, LexSegmenter) for _, pipe in nlp.pipeline)
    lexicon = find_lexicon(nlp)
    facts = {
        "dataset": training.dataset,
        "config": training.config,
        "seed": nlp.config.interpolate()["training"]["seed"],
        "words": words,
        "lexicon": None if lexicon is None else {"words": len(lexicon), "version": f"{lexicon.version:016x}"},
        "made_with": {"spacy": spacy.__version__, "spacy_lexner": spacy_lexner.__version__},
        "processor": f"{platform.machine()}, {torch.get_num_threads()} threads of torch",
    }
    return {**facts, **(measure_words(nlp, corpus) if words else measure_entities(nlp, corpus))}


def measure_entities(nlp: Language, corpus: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): Scores of entities, recall of seen and unseen ones, calibration, errors, speed."""
    gold = list(read_gold(corpus / "test.spacy"))
    seen = mentions(read_gold(corpus / "train.spacy"))
    figures = measure(nlp, gold, Settings(seen=seen, n_worst=0)).figures
    n_characters = sum(len(text.text) for text in gold)
    confused = [(n, a, b) for a, row in figures["confusions"].items() for b, n in row.items() if a != b and a and b]
    confidence = figures["confidence"]
    return {
        "scores": {
            **{name: figures["all"][key] for name, key in ENTITY_SCORES.items()},
            "ents_per_type": {label: {key: row[key] for key in "prf"} for label, row in figures["labels"].items()},
        },
        "labels": {label: {**row, "n": row["found"] + row["missed"]} for label, row in figures["labels"].items()},
        "interval": figures["all"]["spread"]["f"],
        "recall_seen": figures["seen"]["r"],
        "recall_unseen": figures["unseen"]["r"],
        "calibration": None if confidence is None else {"ece": confidence["ece"], "n": confidence["n"]},
        "errors": figures["errors"],
        "confused": [list(each) for each in sorted(confused, reverse=True)[:N_CONFUSIONS]],
        "texts": len(gold),
        "characters_per_second": round(n_characters / figures["seconds"]),
    }


def measure_words(nlp: Language, corpus: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): Scores of words and parts of speech, recall of seen and unseen words, speed."""
    examples = read_examples(nlp, corpus / "test.spacy")
    start = time.perf_counter()
    scores = evaluate(nlp, examples, set())
    seconds = time.perf_counter() - start
    labels = scores.get("word_pos_per_type") or {}
    seen, unseen = recall_of_words(examples, read_examples(nlp, corpus / "train.spacy"))
    return {
        "scores": {name: scores.get(name) for name in WORD_SCORES} | {"word_pos_per_type": labels},
        "labels": labels,
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


def read_spread(results: Path, training: Training) -> List[Dict[str, Any]]:
    """RETURNS (List[Dict[str, Any]]): The test scores of each seed in a study's results, of the system that has the
    config's name, on this data set."""
    lines = read_results(results).values()
    own = [line for line in lines if (line["dataset"], line["system"]) == tuple(training) and line["test"]]
    return [{"seed": line["seed"], "test": line["test"]} for line in own]
