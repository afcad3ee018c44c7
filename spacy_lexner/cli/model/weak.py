"""`spacy lexner weak`: from a dictionary and raw texts to a pipeline."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, List, Optional
from warnings import catch_warnings, simplefilter

import srsly
import typer
from spacy.cli._util import import_code, setup_gpu
from wasabi import msg

from ...lexicon.readers.any_file import read_any
from ...weak.dictionary import Dictionary, read_dictionary
from ..shared import GpuOption, SeedOption, SkipSharedOption, TextFormatOption, check_apart, failing, read_texts
from .training_config import (
    CodeOption,
    ConfigOption,
    DevOption,
    LabelledOption,
    LimitOption,
    SetOption,
    read_values,
    training_config,
)

N_SHOWN = 10  # labels, doubtful words


def weak_cli(
    dictionary: Annotated[
        Path, typer.Argument(metavar="DICTIONARY", help="Words with labels: a dictionary file, a table, a lexicon")
    ],
    texts: Annotated[List[Path], typer.Argument(metavar="TEXTS...", help="Files or folders of raw texts")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder for all that is written")],
    config: ConfigOption = "flat",
    dev: DevOption = None,
    labelled: LabelledOption = None,
    other_words: Annotated[
        Optional[Path],
        typer.Option(
            "--other-words", metavar="FILE", help="General words, such as jieba's: matches inside one are doubtful"
        ),
    ] = None,
    like: Annotated[
        Optional[Path],
        typer.Option(
            "--like",
            metavar="FILE",
            help="Raw texts of the kind that the model will read: learn from these, and of TEXTS from those like them",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(help="Parts of the dictionary, each judged by a model that has not learned it; 0: none", min=0),
    ] = 4,
    rounds: Annotated[int, typer.Option("--rounds", help="Most students; 0 for no self-training", min=0)] = 3,
    upper: Annotated[float, typer.Option(help="A student takes spans of at least this score as known")] = 0.9,
    lower: Annotated[float, typer.Option(help="Tokens that are in a span with at most this probability are O")] = 0.05,
    average: Annotated[bool, typer.Option("--average", help="Teach with the average of all models so far")] = False,
    negatives: Annotated[
        float, typer.Option(help="Spans without annotation that count as no entities in each step, per token")
    ] = 2.0,
    ratio: Annotated[
        Optional[float],
        typer.Option(help="Instead of these: the expected share of tokens in entities", min=0.0, max=1.0),
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="Without --dev and --labelled: share of words held out for scoring", min=0.0, max=0.9)
    ] = 0.1,
    limit: LimitOption = 50_000,
    skip_shared: SkipSharedOption = False,
    seed: SeedOption = 0,
    format: TextFormatOption = "auto",
    values: SetOption = None,
    code: CodeOption = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Train a pipeline on labelled words and raw texts.

    Occurrences of the words are known, doubtful or unknown; everything else stays unannotated. Models that have not
    learned a word tell whether it usually names anything, and where it is part of a longer entity. A CRF learns from
    the rest under a guard, then students learn what their teacher is sure of, until the score stops rising. Every step
    leaves files in OUT; report.html sums them up, and OUT/model is the pipeline. After an interruption, run the same
    command again to continue.

    \b
    Examples:
      python -m spacy lexner weak words.tsv texts.txt OUT --other-words jieba_dict.txt --set paths.lexicon=my_lexicon
      python -m spacy lexner weak words.tsv texts.txt OUT --labelled some.spacy --dev dev.spacy
      python -m spacy lexner weak words.tsv archive/ OUT --like posts.txt
    """
    with failing("Nothing was learned"):
        from ...training.run_inputs import list_files
        from ...weak.like import LikeTexts
        from ...weak.path import MODEL, Settings, learn
        from ...weak.rounds import best
        from ...weak.teacher import Bounds

        check_apart(output, [*texts, *filter(None, (like, labelled, dev))])
        overrides = read_values(values or [])
        import_code(code)
        setup_gpu(gpu_id, silent=True)
        bounds = Bounds(upper, lower)
        settings = Settings(folds, rounds, bounds, average, negatives, ratio, held_out, limit, skip_shared, seed)
        sources = list_files(texts) + [format] * (format != "auto")
        if other_words is not None:
            sources += ["other words", *list_files([other_words])]
        raw: Iterable[str] = read_texts(texts, format)
        if like is not None:
            sources += ["like", *list_files([like])]
            raw = LikeTexts(list(read_texts([like], format)), partial(read_texts, texts, format))
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            words = read_dictionary(dictionary)
        for warning in caught:
            msg.warn(str(warning.message))
        print_labels(dictionary, words)
        found = learn(
            words,
            raw,
            training_config(config, overrides, output),
            output,
            dev=dev,
            labelled=labelled,
            other_words=None if other_words is None else read_any(other_words),
            settings=settings,
            sources=sources,
            use_gpu=gpu_id,
        )
        figures = srsly.read_json(output / "report.json")
    if isinstance(raw, LikeTexts) and raw.n_read:
        msg.info(f"{raw.n_chosen} of {raw.n_read} texts are like the {len(raw.like)} of {like}")
    print_doubtful(figures["labels"])
    matching = figures["matching"]
    rows: List[List[Any]] = [] if matching is None else [["matching", f"{100 * matching:.1f}"]]
    rows += [[each.number, f"{100 * each.score:.1f}"] for each in found]
    msg.table(rows, header=["round", "F1"], divider=True, aligns=("r", "r"))
    msg.good(f"{output / MODEL}: the pipeline of round {best(found).number}, judged by {figures['judged_by']}")
    if matching is not None and best(found).score <= matching:
        msg.warn(
            "The pipeline is no better than matching the dictionary",
            "Often the texts are of other kinds than those that score it, or have too few of the words.",
        )
    msg.info(f"{output / 'report.html'}: what was learned")


def print_labels(path: Path, words: Dictionary) -> None:
    """Print how many words have each label, so that a column read as labels by mistake is noticed before training."""
    n_words = Counter(label for own in words.labels.values() for label in own)
    shown = [f"{label} ({count})" for label, count in n_words.most_common(N_SHOWN)]
    more = f" and {len(n_words) - N_SHOWN} other labels" if len(n_words) > N_SHOWN else ""
    msg.info(f"{path}: {len(words.labels)} words labelled {', '.join(shown)}{more}")


def print_doubtful(statistics: Dict[str, Any]) -> None:
    """Print the dictionary's coverage and the most frequent doubtful words."""
    doubtful = sum(statistics["doubtful"].values())
    msg.info(f"{statistics['texts']} texts with {statistics['known']} known and {doubtful} doubtful words")
    if inside := statistics["inside_tokens"]:
        msg.warn(
            f"{inside} known words in the texts to learn from begin or end inside a token, so nothing is learned from "
            "them",
            "A tokenizer that splits texts into characters lets every word count.",
        )
    rows = [
        [row["word"], row["reason"], ", ".join(row["labels"]), row["count"]]
        for row in statistics["doubtful_words"][:N_SHOWN]
    ]
    if rows:
        msg.table(rows, header=["doubtful", "why", "labels", "times"], divider=True, aligns=("l", "l", "l", "r"))
