"""A study of dictionaries at run time: what a trained pipeline gains from words added without training, how reliably
rules are followed, and what a change costs while another thread annotates.

    python scripts/study_dictionary.py training/weibo/lebert/model-best weibo metrics/dictionary-weibo.json \\
        --titles $LEXNER_DATA/lexicon/zhwiki_titles_2to10.txt.gz
    python scripts/study_dictionary.py training/msra/lebert/model-best msra metrics/dictionary-msra.json \\
        --titles $LEXNER_DATA/lexicon/zhwiki_titles_2to10.txt.gz

Train the pipeline with a lexicon that lacks the titles, such as jieba's words alone: `--vars.lexicon lexicon/jieba`.
The titles that the lexicon lacks are added; no annotation is used to choose them. The weight of `prefer` is the one
with the best F1 on dev.
"""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Dict, Iterable, List, NamedTuple, Optional, Set

import numpy as np
import srsly
import typer
from evaluate import evaluate, mentions, percent, print_table
from paths import PROJECT
from pipelines import load_pipeline, read_examples
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, MatchOptions
from spacy_lexner.lexicon.readers import read_word_list
from spacy_lexner.lexicon.unbreakable import find_unbreakable
from spacy_lexner.pipeline.ner.constraints import ENTITY

WEIGHTS = (0.5, 1.0, 2.0, 3.0)
SAMPLE = 500
CHANGE = 1000
MIN_LENGTH = 3  # shorter titles are mostly ordinary words
BATCH = 16  # batch size in Docs while the dictionary changes
PAUSE = 0.1  # seconds between changes
COLUMNS = {"ents_p": "P", "ents_r": "R", "ents_f": "F", "recall_seen": "R seen", "recall_unseen": "R unseen"}


class Occurrence(NamedTuple):
    start: int
    end: int
    word: str


def find_occurrences(text: str, words: Iterable[str]) -> List[Occurrence]:
    """Find words by searching for each. An occurrence may not start or end within a Latin word or a number.

    text (str): The text.
    words (Iterable[str]): The words.
    RETURNS (List[Occurrence]): The offsets and the word of each occurrence, including overlapping ones.
    """
    inside = {
        i for start, end in zip(*(edges.tolist() for edges in find_unbreakable(text))) for i in range(start + 1, end)
    }
    found = []
    for word in words:
        start = text.find(word)
        while start >= 0:
            if not inside & {start, start + len(word)}:
                found.append(Occurrence(start, start + len(word), word))
            start = text.find(word, start + 1)
    return found


def new_titles(lexicon: Lexicon, path: Path) -> List[str]:
    """RETURNS (List[str]): The words in a list that a lexicon lacks."""
    words = dict.fromkeys(entry.word for entry in read_word_list(path))
    return [word for word in words if len(word) >= MIN_LENGTH and word not in lexicon]


def words_in(docs: Iterable[Doc], lexicon: Lexicon) -> List[str]:
    """RETURNS (List[str]): The lexicon words that occur in texts, sorted."""
    texts = [doc.text for doc in docs]
    words, borders = Matcher(lexicon, MatchOptions(min_length=2)).match(texts)
    found = (text for text, n in zip(texts, np.diff(borders)) for _ in range(n))
    return sorted({text[start:end] for text, start, end in zip(found, words.starts, words.ends)})


def study_titles(
    nlp: Language, dataset: str, titles: List[str], seen: Set[str], label: str = ENTITY
) -> Dict[str, Dict[str, Any]]:
    """Score a pipeline as it is, with more words, and with more words that it should prefer as entities.

    nlp (Language): The pipeline; its lexicon is restored afterwards.
    dataset (str): The data set.
    titles (List[str]): The words.
    seen (Set[str]): The entities in the training texts.
    label (str): The label of the `prefer` rules.
    RETURNS (Dict[str, Dict[str, Any]]): The scores on test.
    """
    matcher = nlp.get_pipe("lex_matcher")
    before = matcher.lexicon
    examples = {name: read_examples(nlp, PROJECT / "corpus" / dataset / f"{name}.spacy") for name in ("dev", "test")}
    # Rules for words that occur in no text would only take time.
    references = (example.reference for split in examples.values() for example in split)
    there = words_in(references, Lexicon.from_entries(map(LexiconEntry, titles)))

    def score(split: str) -> Dict[str, Any]:
        return evaluate(nlp, examples[split], seen)

    def prefer(weight: float) -> None:
        matcher.add_rules((word, "prefer", label, weight) for word in there)

    results = {"before": score("test")}
    start = time.perf_counter()
    matcher.add_words(titles)
    msg.info(f"added in {time.perf_counter() - start:.1f} s")
    results["words added"] = score("test")
    on_dev = {}
    for weight in WEIGHTS:
        prefer(weight)
        on_dev[weight] = score("dev")["ents_f"]
    best = max(WEIGHTS, key=lambda weight: on_dev[weight])
    prefer(best)
    results[f"words added, prefer {best:g}"] = score("test")
    matcher.set_lexicon(before)
    return results


def study_rules(nlp: Language, docs: List[Doc], words: List[str]) -> Dict[str, Dict[str, Any]]:
    """Force and forbid words, and check each of their occurrences.

    nlp (Language): The pipeline; its lexicon is restored afterwards.
    docs (List[Doc]): Texts.
    words (List[str]): The words.
    RETURNS (Dict[str, Dict[str, Any]]): For each mode the number of occurrences, of those where the rule was followed,
        of those where the Doc reports why not, and of the rest; and the precision.
    """
    matcher, labels = nlp.get_pipe("lex_matcher"), nlp.get_pipe("lex_ner").labels
    before = matcher.lexicon
    results = {}
    for mode in ("force", "forbid"):
        label_of = {word: labels[i % len(labels)] for i, word in enumerate(words)}
        matcher.add_rules((word, mode, label_of[word] if mode == "force" else "") for word in words)
        counts = dict.fromkeys(("occurrences", "followed", "reported", "unexplained"), 0)
        for doc in nlp.pipe(doc.text for doc in docs):
            entities = {(ent.start_char, ent.end_char): ent.label_ for ent in doc.ents}
            reported = {(conflict.start_char, conflict.end_char) for conflict in doc._.lex_conflicts}
            for start, end, word in find_occurrences(doc.text, words):
                label = entities.get((start, end))
                followed = label == label_of[word] if mode == "force" else label is None
                kind = "followed" if followed else "reported" if (start, end) in reported else "unexplained"
                counts["occurrences"] += 1
                counts[kind] += 1
        counts["precision"] = counts["followed"] / max(counts["occurrences"] - counts["reported"], 1)
        results[mode] = counts
        matcher.set_lexicon(before)
    return results


def study_swaps(nlp: Language, docs: List[Doc], words: List[str], new_words: List[str]) -> Dict[str, Any]:
    """Change the rules of 1,000 words repeatedly while another thread annotates.

    nlp (Language): The pipeline; its lexicon is restored afterwards.
    docs (List[Doc]): Texts, which are annotated once; changes go on until that is done.
    words (List[str]): Words that occur in the texts: all are forced to one label, then to another.
    new_words (List[str]): More words, which are changed with them.
    RETURNS (Dict[str, Any]): Milliseconds per change; the number of Docs, and of those inconsistent with the state that
        they name.
    """
    matcher, labels = nlp.get_pipe("lex_matcher"), nlp.get_pipe("lex_ner").labels
    before, texts = matcher.lexicon, [doc.text for doc in docs]
    label_of: Dict[str, str] = {}
    annotated: List[Doc] = []
    errors: List[Exception] = []

    def change(label: str) -> float:
        rows = [(word, "force", label) for word in [*words, *new_words][:CHANGE]]
        start = time.perf_counter()
        matcher.add_rules(rows)
        seconds = time.perf_counter() - start
        label_of[matcher.version] = label
        return 1e3 * seconds

    def annotate() -> None:
        try:
            annotated.extend(nlp.pipe(texts, batch_size=BATCH))
        except Exception as error:
            errors.append(error)

    change(labels[0])
    thread = threading.Thread(target=annotate)
    thread.start()
    milliseconds: List[float] = []
    while not milliseconds or thread.is_alive():
        milliseconds.append(change((labels[-1], labels[0])[len(milliseconds) % 2]))
        thread.join(PAUSE)
    matcher.set_lexicon(before)
    if errors:
        raise errors[0]
    states = {doc._.lex_version for doc in annotated}
    wrong = sum(1 for doc in annotated if not is_consistent(doc, words, label_of.get(doc._.lex_version)))
    spread = {"change_ms": median(milliseconds), "slowest_ms": max(milliseconds), "changes": len(milliseconds)}
    return {**spread, "docs": len(annotated), "states": len(states), "inconsistent_docs": wrong}


def is_consistent(doc: Doc, words: List[str], label: Optional[str]) -> bool:
    """RETURNS (bool): Whether all words in a Doc are entities of that label, except where it reports why not."""
    entities = {(ent.start_char, ent.end_char): ent.label_ for ent in doc.ents}
    reported = {(conflict.start_char, conflict.end_char) for conflict in doc._.lex_conflicts}
    occurrences = find_occurrences(doc.text, [word for word in words if word in doc.text])
    return label is not None and all(
        entities.get((start, end)) == label or (start, end) in reported for start, end, _ in occurrences
    )


def main(
    model: Annotated[Path, typer.Argument(help="A trained pipeline.")],
    dataset: Annotated[str, typer.Argument(help="A data set in corpus/.")],
    out: Annotated[Path, typer.Argument(help="File for the results, JSON.")],
    titles: Annotated[Path, typer.Option(help="A word list, one word per line, plain or compressed.")],
    label: Annotated[str, typer.Option(help="The label of the added words; ENTITY for any label.")] = ENTITY,
    seed: Annotated[int, typer.Option(help="Seed of the word sample.")] = 0,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
) -> None:
    """Measure the effects of a dictionary on a trained pipeline at run time."""
    nlp = load_pipeline(model, gpu_id)
    corpus = PROJECT / "corpus" / dataset
    test = [example.reference for example in read_examples(nlp, corpus / "test.spacy")]
    seen = mentions(read_examples(nlp, corpus / "train.spacy"))
    new = new_titles(nlp.get_pipe("lex_matcher").lexicon, titles)
    msg.info(f"{len(new)} words that the lexicon lacks")
    scores = study_titles(nlp, dataset, new, seen, label)
    print(f"\n{scores['before']['n_unseen']} entities in the test split of {dataset} are unseen in training")
    print_table(scores, COLUMNS)
    there = words_in(test, nlp.get_pipe("lex_matcher").lexicon.with_words(new))
    sample = random.Random(seed).sample(there, min(SAMPLE, len(there)))
    rules = study_rules(nlp, test, sample)
    for mode, counts in rules.items():
        print(
            f"{mode}, {len(sample)} words: {counts['occurrences']} occurrences; for {counts['reported']} the Doc "
            f"reports a conflict; of the rest {percent(counts['precision'])} % followed, {counts['unexplained']} not"
        )
    swaps = study_swaps(nlp, test[:300], sample, new)
    print(
        f"{swaps['changes']} changes of {CHANGE} words while {swaps['docs']} Docs were annotated, in {swaps['states']} "
        f"states: {swaps['change_ms']:.1f} ms each (slowest {swaps['slowest_ms']:.1f}); "
        f"{swaps['inconsistent_docs']} Docs are inconsistent with their state"
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(out, {"dataset": dataset, "new_words": len(new), "scores": scores, "rules": rules, "swaps": swaps})
    msg.good(f"Results in {out}")


if __name__ == "__main__":
    typer.run(main)
