"""How far one gets without annotation, with a dictionary of the training entities and raw texts: systems × data sets ×
seeds.

The share of the gap closed is (F1 - F1 of matching) / (F1 of full annotation - F1 of matching).
"""

from __future__ import annotations

import json
import traceback
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any, Callable, Dict, Iterable, Iterator, List, Literal, Optional

import spacy
import srsly
import typer
from evaluate import evaluate, mentions
from paths import CONFIGS, PROJECT
from pipelines import read_examples, use_gpu
from pydantic import BaseModel
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_model
from study_file import choose
from study_inputs import digests, named_paths, refuse_changes
from study_results import Line, Run, add_line, is_missing, read_results
from thinc.api import Config
from wasabi import msg

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.cli.model.training_config import read_values
from spacy_lexner.cli.shared import read_texts
from spacy_lexner.formats.spacy_file import read_docs
from spacy_lexner.training.runs import set_values, train_once
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.label import Labeller
from spacy_lexner.weak.like import LikeTexts
from spacy_lexner.weak.matching import match
from spacy_lexner.weak.path import MODEL, Settings, learn
from spacy_lexner.weak.rounds import find_component
from spacy_lexner.weak.texts import hold_out

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
StudyArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file in studies/.")]
ResultsArgument = Annotated[Path, typer.Argument(help="Results file, a JSON line per run.")]
WrittenArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A results file.")]


class System(BaseModel, extra="forbid"):
    """One of the systems compared: without a config, matching; without `rounds`, training on annotated texts."""

    title: str
    config: str = ""
    guard: Optional[Dict[str, Any]] = None
    ratio: bool = False  # expect the true share of characters in entities
    folds: int = 0
    rounds: Optional[int] = None
    average: bool = False
    labelled: int = 0  # how many annotated texts, from the first; 0 for none, without a dictionary for all
    dictionary: bool = True


def read_systems(study: Path) -> Dict[str, System]:
    """RETURNS (Dict[str, System]): The systems of a study."""
    return {name: System.model_validate(values) for name, values in srsly.read_yaml(study)["systems"].items()}


def training_dictionary(docs: List[Doc], share: float, seed: int) -> Dictionary:
    """RETURNS (Dictionary): All entities in texts with all their labels, or a random share of them."""
    labels: Dict[str, Any] = {}
    for ent in (ent for doc in docs for ent in doc.ents):
        labels.setdefault(ent.text, set()).add(ent.label_)
    words = Dictionary({word: tuple(sorted(own)) for word, own in labels.items()}, set())
    kept = hold_out(words, share, seed) if share < 1 else words.labels
    return Dictionary({word: own for word, own in words.labels.items() if word in kept}, set())


class Matching:
    """A dictionary as a pipeline."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.labeller, self.nlp = Labeller(dictionary), spacy.blank("zh")
        self.pipeline: List[Any] = []
        self.vocab = self.nlp.vocab

    def make_doc(self, text: str) -> Doc:
        return self.nlp.make_doc(text)

    def pipe(self, docs: Iterator[Doc]) -> Iterator[Doc]:
        examples = list(docs)
        for doc, marks in zip(examples, match(self.labeller, [doc.text for doc in examples])):
            spans = [doc.char_span(mark.start, mark.end, label=mark.label) for mark in marks]
            doc.ents = [span for span in spans if span is not None]
            yield doc


def make(
    system: System,
    docs: List[Doc],
    texts: List[Path],
    out: Path,
    config: Config,
    share: float,
    seed: int,
    *,
    like: bool = False,
    gpu_id: int = -1,
) -> Any:
    """RETURNS (Union[Language, Matching]): The pipeline of a system."""
    dictionary = training_dictionary(docs, share, seed)
    if not system.config:
        return Matching(dictionary)
    name = find_component(config)
    if system.guard is not None:
        config = set_values(config, {f"components.{name}.model.guard": system.guard})
    few = docs[: system.labelled] if system.labelled else []
    if system.rounds is None:
        return load_model(train_once(few_texts(config, few, out, seed), out / "training", use_gpu=gpu_id))
    labelled = save_docs(few, out / "labelled.spacy") if few else None
    own = [doc.text for doc in docs]
    read_others: Callable[[], Iterable[str]] = partial(read_texts, texts) if texts else list
    raw: Iterable[str] = LikeTexts(own, read_others) if like else chain(own, read_others())
    ratio = entity_share(docs) if system.ratio else None
    settings = Settings(system.folds, system.rounds, average=system.average, ratio=ratio, skip_shared=True, seed=seed)
    learn(dictionary, raw, config, out, labelled=labelled, settings=settings, use_gpu=gpu_id)
    return load_model(out / MODEL)


def entity_share(docs: List[Doc]) -> float:
    """RETURNS (float): The share of characters in entities."""
    return sum(len(ent.text) for doc in docs for ent in doc.ents) / sum(len(doc.text) for doc in docs)


def few_texts(config: Config, few: List[Doc], out: Path, seed: int) -> Config:
    """RETURNS (Config): The config for training on annotated texts: on a few, a fifth of which serves as dev, or on
    all."""
    values: Dict[str, Any] = {"system.seed": seed, "training.seed": seed}
    if few:
        values["paths.train"] = str(save_docs(few[len(few) // 5 :], out / "train.spacy"))
        values["paths.dev"] = str(save_docs(few[: len(few) // 5], out / "dev.spacy"))
    return set_values(config, values)


def save_docs(docs: List[Doc], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(path)
    return path


def measure(nlp: Language, corpus: Path, splits: List[str]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): For each split precision, recall, F1 and the recall of entities unseen in training."""
    seen = mentions(read_examples(nlp, corpus / "train.spacy"))
    keys = ("ents_p", "ents_r", "ents_f", "recall_unseen")
    found = {split: evaluate(nlp, read_examples(nlp, corpus / f"{split}.spacy"), seen) for split in splits}
    return {split: {key: scores[key] for key in keys} for split, scores in found.items()}


@app.command("run")
def run_study(
    study: StudyArgument,
    results: ResultsArgument,
    dataset: Annotated[List[str], typer.Option(help="Data sets; repeat the option for several.")],
    system: Annotated[Optional[List[str]], typer.Option(help="Systems; all by default.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to SEEDS - 1.")] = 3,
    text: Annotated[Optional[List[Path]], typer.Option(help="More raw texts; files or folders.")] = None,
    like: Annotated[bool, typer.Option("--like", help="Of these, only those like the training texts.")] = False,
    share: Annotated[float, typer.Option(help="Share of the training entities in the dictionary.")] = 1.0,
    dev_only: Annotated[
        bool, typer.Option("--dev-only", help="Leave the test split alone, for choosing settings.")
    ] = False,
    gpu_id: Annotated[int, typer.Option(help="GPU ID or -1 for CPU.")] = -1,
    values: Annotated[Optional[List[str]], typer.Option("--set", help="NAME=VALUE, a setting of the config.")] = None,
) -> None:
    """Do the runs missing from the results file."""
    systems, splits = choose(read_systems(study), system), ["dev"] if dev_only else ["dev", "test"]
    runs = [Run(name, key, seed) for seed in range(seeds) for name in dataset for key in systems]
    settings = {"share": share, "text": list(map(str, text or [])), "like": like, "arguments": values}
    now = {run: {**settings, **describe(run, systems[run.system], text or [], values or [], splits)} for run in runs}
    lines = read_results(results)
    refuse_changes(results, lines, now)
    missing = [run for run in runs if is_missing(lines.get(run), dev_only)]
    if missing:
        use_gpu(gpu_id)
    failed = 0
    for run in missing:
        chosen, out = systems[run.system], PROJECT / "training" / results.stem / run.name
        try:
            corpus = PROJECT / "corpus" / run.dataset
            paths = {f"paths.{split}": str(corpus / f"{split}.spacy") for split in ("train", "dev")}
            config = complete(set_values(read_base(str(base_of(chosen))), {**paths, **read_values(values or [])}))
            docs = list(read_docs(corpus / "train.spacy"))
            nlp = make(chosen, docs, text or [], out, config, share, run.seed, like=like, gpu_id=gpu_id)
            scores = measure(nlp, corpus, splits)
            add_line(results, {**run._asdict(), **now[run], **scores})
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            msg.fail(f"{run.name} failed: {error}")
            failed += 1
            continue
        msg.good(f"{run.name}: {json.dumps(scores)}")
    if failed:
        msg.fail(f"{failed} runs failed; repeat them with the same command", exits=1)


def base_of(system: System) -> Path:
    return CONFIGS / f"{system.config or 'flat'}.cfg"


def describe(run: Run, system: System, texts: List[Path], values: List[str], splits: List[str]) -> Line:
    """RETURNS (Line): What a run depends on besides the options: settings and digests of data, see study_inputs.py."""
    corpora = [PROJECT / "corpus" / run.dataset / f"{split}.spacy" for split in ["train", *splits]]
    inputs = digests([*corpora, base_of(system), *texts, *named_paths(values)])
    return {"settings": system.model_dump(exclude={"title"}), "inputs": inputs}


@app.command("table")
def show_table(
    study: StudyArgument,
    results: WrittenArgument,
    split: Annotated[Literal["dev", "test"], typer.Option(help="The split to show.")] = "test",
) -> None:
    """Print F1, mean and spread, and the share of the gap closed as a Markdown table."""
    rows = [row for row in read_results(results).values() if split in row]
    for name in dict.fromkeys(row["dataset"] for row in rows):
        print(f"\n| {name} | F1 | spread | recall of unseen entities | gap closed |\n|---|---|---|---|---|")
        scores: Dict[str, List[Dict[str, Any]]] = {}
        for row in rows:
            if row["dataset"] == name:
                scores.setdefault(row["system"], []).append(row[split])
        print("\n".join(summarise(scores, read_systems(study))))


def summarise(scores: Dict[str, List[Dict[str, Any]]], systems: Dict[str, System]) -> Iterator[str]:
    """YIELDS (str): A table row for each system, from the scores of its runs."""
    means = {key: 100 * mean(each["ents_f"] for each in own) for key, own in scores.items()}
    low, high = (means.get(key, 0.0) for key in ("matching", "full"))
    for key, system in systems.items():
        if own := scores.get(key):
            spread = 100 * stdev(each["ents_f"] for each in own) if len(own) > 1 else 0.0
            unseen = 100 * mean(each["recall_unseen"] or 0.0 for each in own)
            closed = f"{100 * (means[key] - low) / (high - low):.0f} %" if high > low > 0 else ""
            yield f"| {system.title} | {means[key]:.1f} | {spread:.1f} | {unseen:.1f} | {closed} |"


if __name__ == "__main__":
    app()
