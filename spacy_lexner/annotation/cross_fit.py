"""Cross-fitting: each part of the annotated texts is scored by a model trained on the others."""

from pathlib import Path
from typing import Dict, List, Optional, Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model
from thinc.api import Config
from tqdm import tqdm

from ..integrity.json_files import read_jsonl, write_jsonl
from ..report.gold import GoldText
from ..training.digests import DocDigest
from ..training.run_inputs import begin
from ..training.runs import set_values, train_once
from ..visualize.lattice import Mark
from .errors import spans_of_copies
from .folds import Fold, divide, write_fold
from .span_scores import ScoredText, score_texts

SCORES = "scores.jsonl"


def cross_fit(
    docs: Sequence[Doc],
    gold: Sequence[GoldText],
    config: Config,
    output: Path,
    *,
    n_folds: int = 5,
    seed: int = 0,
    use_gpu: int = -1,
    failed: Dict[int, str],
) -> List[Optional[ScoredText]]:
    """Train a model on all texts but one part, for each part, and let it score the spans of that part. Results are kept
    in the folder, so that the same call resumes after an interruption.

    docs (Sequence[Doc]): The annotated texts.
    gold (Sequence[GoldText]): The same texts by characters.
    config (Config): A complete training config.
    output (Path): The folder.
    n_folds, seed (int): See `folds.divide`.
    use_gpu (int): The GPU, or -1.
    failed (Dict[int, str]): Gets the error of each text that could not be processed.
    RETURNS (List[Optional[ScoredText]]): The scores of each text. Raises ValueError if the folder holds those of other
        texts or settings.
    """
    asked = spans_of_copies(gold)
    scored: List[Optional[ScoredText]] = [None] * len(gold)
    folds = divide([text.text for text in gold], n_folds, seed=seed)
    folders = [output / f"fold-{number}" for number in range(1, len(folds) + 1)]
    parts = [n_folds, seed, config.to_str(), DocDigest().update(docs).hexdigest()]
    begin(output, "config", [folder.name for folder in folders], parts)
    for folder, fold in zip(folders, tqdm(folds, unit=" parts", disable=None, leave=False)):
        if not (folder / SCORES).is_file():
            nlp = train_fold(docs, fold, config, folder, use_gpu=use_gpu)
            score_part(nlp, gold, asked, fold.held, folder / SCORES)
        read_scores(folder / SCORES, scored, failed)
    return scored


def score_all(
    nlp: Language, gold: Sequence[GoldText], file: Path, failed: Dict[int, str]
) -> List[Optional[ScoredText]]:
    """Let a model that has seen none of the texts score all of them, and write the scores to a file as well."""
    scored: List[Optional[ScoredText]] = [None] * len(gold)
    score_part(nlp, gold, spans_of_copies(gold), range(len(gold)), file)
    read_scores(file, scored, failed)
    return scored


def train_fold(docs: Sequence[Doc], fold: Fold, config: Config, folder: Path, *, use_gpu: int = -1) -> Language:
    """Train the model of a part."""
    write_fold(docs, fold, folder / "corpus")
    paths = {f"paths.{name}": str(folder / "corpus" / f"{name}.spacy") for name in ("train", "dev")}
    return load_model(train_once(set_values(config, paths), folder / "training", use_gpu=use_gpu))


def score_part(
    nlp: Language, gold: Sequence[GoldText], asked: Sequence[Sequence[Mark]], numbers: Sequence[int], file: Path
) -> None:
    """Let a model score texts, and write to a file, atomically, the scores of each or why it could not be processed."""
    failed: Dict[int, str] = {}
    scores = score_texts(nlp, [gold[n].text for n in numbers], [asked[n] for n in numbers], failed)
    bar = tqdm(scores, total=len(numbers), unit=" texts", disable=None, leave=False)
    rows = [{"number": numbers[i], "asked": own.asked, "likely": own.likely} for i, own in bar]
    write_jsonl(file, [*rows, *({"number": numbers[i], "failed": reason} for i, reason in failed.items())])


def read_scores(file: Path, scored: List[Optional[ScoredText]], failed: Dict[int, str]) -> None:
    """Read a file of scores into `scored`, and of failures into `failed`, by text number."""
    for row in read_jsonl(file):
        if "failed" in row:
            failed[row["number"]] = row["failed"]
        else:
            scored[row["number"]] = ScoredText(*([Mark(*mark) for mark in row[key]] for key in ("asked", "likely")))
