"""`spacy lexner uncertain`: the texts that are worth labelling next, as a model annotates them."""

from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, Iterator, List, Optional, Sequence

import typer
from spacy.cli._util import setup_gpu
from tqdm import tqdm
from wasabi import msg

from ...annotation.drafts import Draft, find_words, make_drafts
from ...annotation.select import DIVERSITY, Choice, choose
from ...formats.report import Report
from ...formats.task import Task
from ...formats.write import WRITERS
from ..data.convert import OffsetsOption
from ..data.export import export
from ..pipelines import load_pipeline
from ..texts import TextFormatOption, read_texts

FORMATS = {".json": "label-studio", ".jsonl": "prodigy", "": "brat"}

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with lex_ner, by folder or name")]
CorpusArgument = Annotated[List[Path], typer.Argument(metavar="CORPUS...", help="Files or folders of texts")]
NumberOption = Annotated[int, typer.Option("--number", "-n", help="How many texts to choose", min=1)]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT", help="The file to write; for brat a new folder")
]
ToolOption = Annotated[
    str,
    typer.Option("--to", metavar="NAME", help=f"auto (by the end of OUT: .jsonl, .json, none), {', '.join(WRITERS)}"),
]
LabelledOption = Annotated[
    Optional[List[Path]],
    typer.Option(
        "--labelled", "-l", metavar="PATH", help="Texts that are labelled already: left out, their words are no news"
    ),
]
DiversityOption = Annotated[
    float, typer.Option(help="From 0, for uncertainty alone, to 1, where texts without new words are worth nothing")
]
GpuOption = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU")]


def uncertain_cli(
    model: ModelArgument,
    corpus: CorpusArgument,
    n: NumberOption = 200,
    output: OutputOption = Path("uncertain.jsonl"),
    tool: ToolOption = "auto",
    format: TextFormatOption = "auto",
    labelled: LabelledOption = None,
    diversity: DiversityOption = DIVERSITY,
    offsets: OffsetsOption = "auto",
    gpu_id: GpuOption = -1,
) -> None:
    """Choose the texts that are worth labelling next, and write them for an annotation tool, with the model's entities.

    A text is worth more, the closer its second best reading comes to the best one (the path margin), and the more of
    its words are neither in labelled texts nor in texts chosen before. Texts that occur twice are taken once.

    \b
    Examples:
      python -m spacy lexner uncertain training/model-best news.txt -n 200 -o next.jsonl --labelled corpus/train.spacy
      python -m spacy lexner uncertain training/model-best news.txt -n 200 -o next.json
      python -m spacy lexner uncertain training/model-best news.txt -n 50 -o next.jsonl --to doccano
    """
    try:
        setup_gpu(gpu_id, silent=True)
        tool = FORMATS.get(output.suffix, "") if tool == "auto" else tool
        if tool not in WRITERS:
            raise ValueError(f"{output}: which format is it to be? Say so with --to: {', '.join(WRITERS)}.")
        done = set(read_texts(labelled)) if labelled else set()
        found = list(read_texts(corpus, format))
        texts = [text for text in dict.fromkeys(found) if text not in done]
        if not texts:
            raise ValueError("All texts of the corpus are labelled already.")
        nlp = load_pipeline(model)
        failed: Dict[int, str] = {}
        bar = tqdm(make_drafts(nlp, texts, failed), total=len(texts), unit=" texts", disable=None, leave=False)
        drafts = list(bar)
        known = find_words(nlp, done)
        choices = choose([draft.candidate for draft in drafts], n, known=known, diversity=diversity)
        export(make_tasks(drafts, choices), output, tool, Report(), offsets)
    except (ValueError, OSError, ImportError) as error:
        msg.fail("Nothing was chosen", str(error), exits=1)
    print_summary(drafts, choices, n_found=len(found), n_left=len(texts))
    if failed:
        msg.warn(f"{len(failed)} texts could not be processed", "\n".join(sorted(set(failed.values()))[:3]))


def make_tasks(drafts: Sequence[Draft], choices: Iterable[Choice]) -> Iterator[Task]:
    """RETURNS (Iterator[Task]): The chosen texts, with why they were."""
    for rank, choice in enumerate(choices, start=1):
        draft = drafts[choice.number]
        notes: Dict[str, Any] = {"rank": rank, "novelty": round(choice.novelty, 4), "worth": round(choice.worth, 6)}
        if draft.margin < float("inf"):  # which JSON cannot say
            notes["margin"] = round(draft.margin, 4)
        yield draft.task._replace(notes=notes)


def print_summary(drafts: Sequence[Draft], choices: Sequence[Choice], *, n_found: int, n_left: int) -> None:
    """Print from how many texts was chosen, and what distinguishes the chosen ones.

    drafts (Sequence[Draft]): The texts.
    choices (Sequence[Choice]): The chosen ones.
    n_found (int): How many texts there were.
    n_left (int): How many of them are distinct and not labelled.
    """
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
        msg.warn(
            "No candidate words: the pipeline has no lexicon, or none of its words occurs. Novelty counts nothing."
        )
