"""Facts about a trained pipeline: measured on the test set, read from its config and from studies."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple

import spacy
import torch
from evaluate import find_spancats
from pipeline_scores import measure_entities, measure_spans, measure_words
from spacy.language import Language
from study_results import read_results
from wasabi import msg

import spacy_lexner
from spacy_lexner.pipeline.lexicon_pipe import find_lexicon
from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter


class Training(NamedTuple):
    """A run of the workflow `train`: its data set and its config."""

    dataset: str
    config: str


class Kind(NamedTuple):
    """What a pipeline finds.

    title (str): The first words of its card.
    noun (str): What is counted.
    score (str): The name of its F-score in the results of a study.
    by_type (str): That of its scores by label.
    measure (Callable): Measures it.
    """

    title: str
    noun: str
    score: str
    by_type: str
    measure: Callable[[Language, Path], Dict[str, Any]]


KINDS = {
    "words": Kind("Words and parts of speech", "words", "word_f", "word_pos_per_type", measure_words),
    "spans": Kind("Nested named entities", "entities", "spans_sc_f", "spans_sc_per_type", measure_spans),
    "entities": Kind("Named entities", "entities", "ents_f", "ents_per_type", measure_entities),
}


def find_kind(nlp: Language) -> str:
    """RETURNS (str): A key of `KINDS`."""
    if any(isinstance(pipe, LexSegmenter) for _, pipe in nlp.pipeline):
        return "words"
    return "spans" if find_spancats(nlp) else "entities"


def describe(nlp: Language, training: Training, corpus: Path) -> Dict[str, Any]:
    """Evaluate a pipeline on the test set.

    nlp (Language): The pipeline.
    training (Training): How it was trained.
    corpus (Path): The folder of its train, dev and test splits.
    RETURNS (Dict[str, Any]): The facts for a card: `scores` by spaCy's names, `labels`, and so on; JSON-serialisable.
    """
    kind, lexicon = find_kind(nlp), find_lexicon(nlp)
    return {
        "dataset": training.dataset,
        "config": training.config,
        "kind": kind,
        "language": type(nlp).__name__,
        "lexicon": None if lexicon is None else {"words": len(lexicon), "version": f"{lexicon.version:016x}"},
        "made_with": {"spacy": spacy.__version__, "spacy_lexner": spacy_lexner.__version__},
        "processor": f"{platform.machine()}, {torch.get_num_threads()} threads of torch",
        **KINDS[kind].measure(nlp, corpus),
    }


def check_results(results: str) -> None:
    """Exit with a message if the results file of a study is named, but missing."""
    if results and not Path(results).is_file():
        remedy = "Give a file that `scripts/study.py run` wrote, relative to the project's folder, or leave it out."
        msg.fail(f"There is no results file {results}", remedy, exits=1)


def read_spread(results: Path, training: Training) -> List[Dict[str, Any]]:
    """Read the test scores of each seed in a study's results: those of the system with the config's name.

    results (Path): The results file.
    training (Training): The data set and the config.
    RETURNS (List[Dict[str, Any]]): `seed` and `test`. Raises ValueError if there are none.
    """
    lines = read_results(results).values()
    own = [line for line in lines if (line["dataset"], line["system"]) == tuple(training) and line["test"]]
    if not own:
        raise ValueError(
            f"{results} has no test scores of a system {training.config!r} on {training.dataset!r}. Leave out "
            "vars.results, or name the file of a study that has them."
        )
    return [{"seed": line["seed"], "test": line["test"]} for line in own]
