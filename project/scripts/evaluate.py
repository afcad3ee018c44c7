"""Evaluate trained pipelines: entities, words and parts of speech, by type; recall of what is unseen in training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Dict, Iterator, List, Optional, Set, Tuple

import srsly
import typer
from pipelines import load_pipeline, read_examples
from spacy.language import Language
from spacy.pipeline import SpanCategorizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from tqdm import tqdm
from wasabi import msg, table

from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.segmenter.lex_segmenter import LexSegmenter

SCORER = "spacy-lexner.lex_ner_scorer.v1"


def mentions(examples: List[Example]) -> Set[str]:
    """RETURNS (Set[str]): The strings of all gold entities, overlapping ones included."""
    references = [example.reference for example in examples]
    return {span.text for doc in references for spans in (doc.ents, *doc.spans.values()) for span in spans}


def evaluate(nlp: Language, examples: List[Example], seen: Set[str]) -> Dict[str, Any]:
    """Run a pipeline over a corpus and score it.

    nlp (Language): The pipeline.
    examples (List[Example]): The corpus; the predicted Docs are replaced.
    seen (Set[str]): The strings of the entities seen in training.
    RETURNS (Dict[str, Any]): `ents_p`, `ents_r`, `ents_f`, `ents_per_type`; `recall_seen`, `recall_unseen` and the
        number of mentions of each, `n_seen` and `n_unseen`, with those that `spancat` is to find; the scores of
        `lex_segmenter`, and of `spancat` with `suggested_r` and `suggested_n`, if the pipeline has them.
    """
    docs = nlp.pipe(nlp.make_doc(example.reference.text) for example in examples)
    for example, doc in tqdm(
        zip(examples, docs), total=len(examples), desc="evaluate", unit="doc", leave=False, disable=None
    ):
        example.predicted = doc
    scores = registry.scorers.get(SCORER)()(examples)
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, (LexSegmenter, SpanCategorizer)):
            scores.update(pipe.score(examples))
    for pipe in find_spancats(nlp):
        scores.update(measure_suggestions(pipe, examples))
    return {**scores, **measure_recall(examples, [pipe.key for pipe in find_spancats(nlp)], seen)}


def find_spancats(nlp: Language) -> List[SpanCategorizer]:
    """RETURNS (List[SpanCategorizer]): The components of a pipeline that find overlapping entities."""
    return [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SpanCategorizer)]


def measure_recall(examples: List[Example], keys: List[str], seen: Set[str]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): `recall_seen`, `recall_unseen`, `n_seen` and `n_unseen` of the entities and the spans
    under these keys."""

    def read(doc: Doc) -> Set[Tuple[int, int, str]]:
        groups = [doc.spans[key] for key in keys if key in doc.spans]
        return {(span.start_char, span.end_char, span.label_) for spans in (doc.ents, *groups) for span in spans}

    found = {True: 0, False: 0}
    total = {True: 0, False: 0}
    for example in examples:
        text, predicted = example.reference.text, read(example.predicted)
        for start, end, label in read(example.reference):
            known = text[start:end] in seen
            total[known] += 1
            found[known] += (start, end, label) in predicted
    return {
        "recall_seen": found[True] / total[True] if total[True] else None,
        "recall_unseen": found[False] / total[False] if total[False] else None,
        "n_seen": total[True],
        "n_unseen": total[False],
    }


def measure_suggestions(pipe: SpanCategorizer, examples: List[Example]) -> Dict[str, Optional[float]]:
    """RETURNS (Dict[str, Optional[float]]): `suggested_r`, the share of gold spans that are suggested, None if there
    are none; and `suggested_n`, the number of suggestions per token."""
    suggestions = pipe.suggester([example.predicted for example in examples])
    found = total = first = 0
    for example, count in zip(examples, suggestions.lengths.tolist()):
        known = {(start, end) for start, end in suggestions.dataXd[first : first + count].tolist()}
        spans = example.reference.spans.get(pipe.key, ())
        gold = {(span.start, span.end, span.label) for span in spans}
        found += sum((start, end) in known for start, end, _ in gold)
        total, first = total + len(gold), first + count
    n_tokens = sum(len(example.predicted) for example in examples)
    return {"suggested_r": found / total if total else None, "suggested_n": first / max(1, n_tokens)}


def without_lexicon(nlp: Language) -> None:
    """Empty the lexicon of a pipeline; nothing else changes."""
    if "lex_matcher" in nlp.pipe_names:
        nlp.get_pipe("lex_matcher").set_lexicon(Lexicon.from_entries([]))


def percent(value: Any) -> str:
    """RETURNS (str): A share as a percentage."""
    return "–" if value is None else f"{100 * value:.1f}"


def print_scores(results: Dict[str, Dict[str, Any]]) -> None:
    """Print a table of all pipelines and one by type, for entities and for words, if the corpus has them."""
    counts = next(iter(results.values()))
    if n_entities := counts["n_seen"] + counts["n_unseen"]:
        print(f"\n{n_entities} entities, {counts['n_unseen']} of them unseen in training")
    for prefix in find_prefixes(results):
        columns = {f"{prefix}_p": "P", f"{prefix}_r": "R", f"{prefix}_f": "F"}
        columns |= {"recall_seen": "R seen", "recall_unseen": "R unseen"}
        if prefix != "ents":
            columns["suggested_r"] = "suggested"
        print_table(results, columns)
        print_types(results, f"{prefix}_per_type")
    if any(scores.get("word_f") is not None for scores in results.values()):
        keys = ("word_p", "word_r", "word_f", "word_oov_r", "word_pos_p", "word_pos_r", "word_pos_f")
        print("\nwords; recall of words unseen in training; words with their parts of speech")
        print_table(results, dict(zip(keys, ("P", "R", "F", "R unseen", "POS P", "POS R", "POS F"))))
        print_types(results, "word_pos_per_type")


def find_prefixes(results: Dict[str, Dict[str, Any]]) -> Iterator[str]:
    """YIELDS (str): What entity scores begin with: "ents", and "spans_sc" for overlapping ones under this key."""
    keys = {key for scores in results.values() for key, value in scores.items() if value is not None}
    yield from sorted(key.removesuffix("_f") for key in keys if re.fullmatch("(ents|spans_.+)_f", key))


def print_table(results: Dict[str, Dict[str, Any]], columns: Dict[str, str]) -> None:
    """Print the scores of pipelines; `columns` maps keys to titles."""
    rows = [(name, *(percent(scores.get(key)) for key in columns)) for name, scores in results.items()]
    print(table(rows, header=("pipeline", *columns.values()), divider=True, aligns=("l", *"r" * len(columns))))


def print_types(results: Dict[str, Dict[str, Any]], key: str) -> None:
    """Print the scores by type stored under a key."""
    rows = [
        (name, label, *(percent(by_type[score]) for score in "prf"))
        for name, scores in results.items()
        for label, by_type in sorted((scores.get(key) or {}).items())
    ]
    print(table(rows, header=("pipeline", "type", "P", "R", "F"), divider=True, aligns=("l", "l", "r", "r", "r")))


def main(
    corpus: Annotated[Path, typer.Argument(help="The corpus to evaluate on, .spacy.")],
    models: Annotated[List[str], typer.Argument(help="Pipelines, each as NAME=FOLDER.")],
    train: Annotated[Path, typer.Option(help="The training corpus, which tells which entities were seen.")],
    out: Annotated[Path, typer.Option(help="File for the scores, JSON.")],
    disable: Annotated[
        Optional[List[str]], typer.Option(help="Also evaluate each pipeline without this component.")
    ] = None,
    lexicon_off: Annotated[bool, typer.Option(help="Also evaluate each pipeline with an empty lexicon.")] = False,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
) -> None:
    """Evaluate pipelines on a corpus, side by side."""
    results: Dict[str, Dict[str, Any]] = {}
    named = [model.rpartition("=") for model in models]
    names = [name or Path(folder).name for name, _, folder in named]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        msg.fail(f"Two pipelines have the name {repeated!r}", "Give each its own (NAME=FOLDER).", exits=1)
    for name, (*_, folder) in zip(names, named):
        nlp = load_pipeline(Path(folder), gpu_id)
        seen = mentions(read_examples(nlp, train))
        results[name] = evaluate(nlp, read_examples(nlp, corpus), seen)
        for pipe in [pipe for pipe in disable or () if pipe in nlp.pipe_names]:
            with nlp.select_pipes(disable=pipe):
                results[f"{name}, without {pipe}"] = evaluate(nlp, read_examples(nlp, corpus), seen)
        if lexicon_off and "lex_matcher" in nlp.pipe_names:
            without_lexicon(nlp)
            results[f"{name}, lexicon emptied"] = evaluate(nlp, read_examples(nlp, corpus), seen)
    print_scores(results)
    out.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(out, results)
    msg.good(f"Scores in {out}")


if __name__ == "__main__":
    typer.run(main)
