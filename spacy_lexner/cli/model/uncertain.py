"""`spacy lexner uncertain`: the texts most worth labelling next, with a model's entities as drafts."""

from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, Iterator, List, Optional, Sequence

import typer
from spacy.cli._util import setup_gpu
from wasabi import msg

from ...annotation.drafts import Draft, find_words, make_drafts
from ...annotation.select import DIVERSITY, Choice, check_diversity, choose
from ...formats.read import list_inputs
from ...formats.report import Report
from ...formats.task import Task
from ...formats.write import WRITERS, check_target
from ..data.convert import OffsetsOption
from ..data.export import export
from ..shared import (
    GpuOption,
    TextFormatOption,
    check_apart,
    failing,
    load_pipeline,
    progress,
    read_texts,
    warn_of_failures,
)

FORMATS = {".json": "label-studio", ".jsonl": "prodigy", "": "brat"}


def uncertain_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with lex_ner, by folder or name")],
    corpus: Annotated[List[Path], typer.Argument(metavar="CORPUS...", help="Files or folders of texts")],
    n: Annotated[int, typer.Option("--number", "-n", help="How many texts to choose", min=1)] = 200,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The file to write; for brat a new folder")
    ] = Path("uncertain.jsonl"),
    tool: Annotated[
        str,
        typer.Option("--to", metavar="NAME", help=f"auto (by the suffix of OUT), {', '.join(WRITERS)}"),
    ] = "auto",
    format: TextFormatOption = "auto",
    labelled: Annotated[
        Optional[List[Path]],
        typer.Option("--labelled", "-l", metavar="PATH", help="Labelled texts: excluded, and their words are not new"),
    ] = None,
    diversity: Annotated[
        float, typer.Option(help="From 0 (only uncertainty counts) to 1 (texts without new words are worth nothing)")
    ] = DIVERSITY,
    offsets: OffsetsOption = "auto",
    gpu_id: GpuOption = -1,
) -> None:
    """Choose the texts worth labelling next, and write them with the model's entities for an annotation tool.

    A text is worth more the closer its second best path is to the best one (the path margin), and the more new words
    it has, found neither in labelled texts nor in texts chosen before. Duplicates are dropped. The suffix of OUT
    selects the tool, unless --to does: .jsonl Prodigy, .json Label Studio, none brat.

    \b
    Examples:
      python -m spacy lexner uncertain training/model-best news.txt -n 200 -o next.jsonl --labelled corpus/train.spacy
      python -m spacy lexner uncertain training/model-best news.txt -n 200 -o next.json
      python -m spacy lexner uncertain training/model-best news.txt -n 50 -o next.jsonl --to doccano
    """
    with failing("Nothing was chosen"):
        setup_gpu(gpu_id, silent=True)
        tool = FORMATS.get(output.suffix, "") if tool == "auto" else tool
        if tool not in WRITERS:
            raise ValueError(f"{output}: the suffix names no format. Give one with --to: {', '.join(WRITERS)}.")
        check_target(output, tool, offsets)  # before the model runs
        check_diversity(diversity)
        read = [source.path for path in [*corpus, *(labelled or [])] for source in list_inputs(path, format)]
        check_apart(output, read)
        done = set(read_texts(labelled)) if labelled else set()
        found = list(read_texts(corpus, format))
        texts = [text for text in dict.fromkeys(found) if text not in done]
        if not texts:
            raise ValueError("All texts of the corpus are already labelled.")
        nlp = load_pipeline(model)
        failed: Dict[int, str] = {}
        drafts = list(progress(make_drafts(nlp, texts, failed), total=len(texts)))
        known = find_words(nlp, done)
        choices = choose([draft.candidate for draft in drafts], n, known=known, diversity=diversity)
        export(make_tasks(drafts, choices), output, tool, Report(), offsets)
    print_summary(drafts, choices, n_found=len(found), n_left=len(texts))
    warn_of_failures(failed)


def make_tasks(drafts: Sequence[Draft], choices: Iterable[Choice]) -> Iterator[Task]:
    """The drafts of the chosen texts, best first, with rank, novelty, worth and margin as notes."""
    for rank, choice in enumerate(choices, start=1):
        draft = drafts[choice.number]
        notes: Dict[str, Any] = {"rank": rank, "novelty": round(choice.novelty, 4), "worth": round(choice.worth, 6)}
        if draft.margin < float("inf"):  # JSON has no infinity
            notes["margin"] = round(draft.margin, 4)
        yield draft.task._replace(notes=notes)


def print_summary(drafts: Sequence[Draft], choices: Sequence[Choice], *, n_found: int, n_left: int) -> None:
    """Print a comparison of the chosen texts with all. `n_left` of `n_found` texts are distinct and unlabelled."""
    rows = []
    for name, group in (("all", drafts), ("chosen", [drafts[choice.number] for choice in choices])):
        margins = sorted(draft.margin for draft in group)
        words = {word for draft in group for word in draft.words}
        entities = sum(len(draft.task.record.entities or ()) for draft in group)
        rows.append([name, len(group), f"{margins[len(margins) // 2]:.2f}" if margins else "–", len(words), entities])
    msg.table(
        rows, header=["texts", "number", "margin (median)", "words", "entities"], divider=True, aligns=tuple("lrrrr")
    )
    msg.info(f"{n_found} texts, {n_left} of them distinct and not labelled")
    if not any(draft.words for draft in drafts):
        msg.warn("No candidate words: the pipeline has no lexicon, or none of its words occur. Novelty has no effect.")
