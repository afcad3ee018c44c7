"""The whole path from a dictionary and raw texts to a trained pipeline."""

from functools import partial
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
import srsly
from spacy.tokens import Doc
from spacy.util import load_model, load_model_from_config
from thinc.api import Config

from ..formats import spacy_file
from ..formats.spacy_file import read_all
from ..integrity.pipelines import save
from ..lexicon.entry import LexiconEntry
from ..report.gold import GoldText, to_gold
from ..training.runs import set_values
from .correct import correct
from .dictionary import Dictionary
from .doubt import Verdict, WordTrial
from .inputs import SETTINGS, check_inputs
from .label import Labeller
from .protected import ProtectedTexts
from .report import write_report
from .rounds import Round, SelfTraining, best, find_component
from .teacher import Bounds, calibrate
from .texts import Labels, choose_texts, hold_out, label_texts

CRF = "spacy-lexner.CRFTagger.v1"
MODEL = "model"
DEV_SHARE = 0.2  # share of the labelled texts that score models if there are no others


class Settings(NamedTuple):
    """Settings of weakly supervised training."""

    folds: int = 4  # parts of the dictionary, each judged by a model that has not learned it; 0: none
    rounds: int = 3  # most students
    bounds: Bounds = Bounds()  # how sure a teacher must be
    average: bool = False  # whether the average of all models so far teaches
    negatives: float = 2.0  # how many spans without annotation count as no entities in each step, per token
    ratio: Optional[float] = None  # instead: the expected share of tokens in entities
    held_out: float = 0.1  # share of words held out to score models, if no texts are annotated
    limit: int = 50_000  # most texts to learn from
    skip_shared: bool = False  # leave out texts that share a text with dev, instead of raising an error
    seed: int = 0


class Annotated(NamedTuple):
    """Annotated texts, to learn from (`labelled`) and to score models on (`dev`)."""

    labelled: List[Doc]
    dev: List[Doc]


def learn(
    dictionary: Dictionary,
    texts: Iterable[str],
    config: Config,
    output: Path,
    *,
    dev: Optional[Path] = None,
    labelled: Optional[Path] = None,
    other_words: Optional[Iterable[LexiconEntry]] = None,
    settings: Optional[Settings] = None,
    sources: Sequence[str] = (),
    use_gpu: int = -1,
) -> List[Round]:
    """Train a pipeline on a dictionary and raw texts. Every step leaves its files in the output folder; after an
    interruption, the same call continues.

    dictionary (Dictionary): Words with labels.
    texts (Iterable[str]): Raw texts, read once, as a stream.
    config (Config): A complete config for training, with one `lex_ner`, except for the corpus paths.
    output (Path): The output folder. `labels` has the texts labelled by the dictionary, `words` what models think of
        its words, `round-N` the training texts of model N and the model; `model` is the best model, `report.html`
        summarises the run.
    dev (Optional[Path]): Annotated texts to select and calibrate models on. By default a fifth of `labelled` or,
        without any, dictionary words that are held out of training.
    labelled (Optional[Path]): Annotated texts to learn from; they also correct the dictionary.
    other_words (Optional[Iterable[LexiconEntry]]): See `Labeller`.
    settings (Optional[Settings]): The settings; the defaults if None.
    sources (Sequence[str]): An identification of the texts and other words, such as file names and sizes, which must
        not change when an interrupted run is continued.
    use_gpu (int): The GPU, or -1 for the CPU.
    RETURNS (List[Round]): The rounds of training. Raises ValueError, with the reason, if they cannot start.
    """
    settings = settings or Settings()
    settings.bounds.check()
    annotated = read_annotated(dev, labelled, settings.seed)
    labels = check_labels(dictionary, annotated)
    prepared = prepare_config(config, labels, settings)
    learned_from = correct(dictionary, annotated.labelled)
    held = frozenset() if annotated.dev else hold_out(learned_from, settings.held_out, settings.seed)
    begin = check_inputs(output, "dictionary", [dictionary, settings, sources, dev, labelled, config.to_str()])
    shared = [("the annotated texts that score models", doc.text) for doc in annotated.dev]
    chosen = choose_texts(texts, ProtectedTexts(shared) if shared else None, skip_shared=settings.skip_shared)
    make_doc = load_model_from_config(prepared, auto_fill=True, validate=False).tokenizer
    labeller = Labeller(learned_from, other_words)
    label = partial(label_texts, labeller, make_doc=make_doc, held=held, limit=settings.limit, seed=settings.seed)
    found = checked = label(chosen, folder=output / "labels")
    srsly.write_json(output / SETTINGS, begin)
    improbable: List[Verdict] = []
    if settings.folds:
        words = output / "words"
        trial = WordTrial(
            prepared, labeller, found.train, make_doc, words, held, annotated.labelled, settings.seed, use_gpu
        )
        improbable = [each for each in trial.run(settings.folds) if each.is_improbable]
        labeller.doubt(each.word for each in improbable)
        checked = label((doc.text for doc in read_all(found.train)), folder=words / "labels")
    training = SelfTraining(
        prepared,
        output,
        checked.train,
        _dev_file(output, checked, annotated),
        annotated.labelled,
        [to_gold(doc) for doc in annotated.dev] or None,
        settings.bounds,
        settings.average,
        use_gpu,
    )
    rounds = training.run(settings.rounds)
    finish(rounds, training.gold, output / MODEL)
    write_report(output, learned_from, found, improbable, rounds, by_dev=bool(annotated.dev))
    return rounds


def read_annotated(dev: Optional[Path], labelled: Optional[Path], seed: int) -> Annotated:
    """Read annotated texts. Raises ValueError if those to score models on have no entities."""
    docs = [] if labelled is None else list(spacy_file.read_annotated(labelled))
    judges = [] if dev is None else list(spacy_file.read_annotated(dev))
    if dev is None and len(docs) > 1:
        order = np.random.default_rng(seed).permutation(len(docs)).tolist()
        n_dev = max(1, round(DEV_SHARE * len(docs)))
        docs, judges = [docs[i] for i in sorted(order[n_dev:])], [docs[i] for i in sorted(order[:n_dev])]
    if judges and not any(doc.ents for doc in judges):
        raise ValueError(f"{dev or labelled}: no entities in the {len(judges)} texts to score models on.")
    return Annotated(docs, judges)


def check_labels(dictionary: Dictionary, annotated: Annotated) -> Tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): All labels, sorted. Raises ValueError if the texts to score models on have others."""
    known: Set[str] = {*dictionary.label_names, *(ent.label_ for doc in annotated.labelled for ent in doc.ents)}
    unknown = sorted({ent.label_ for doc in annotated.dev for ent in doc.ents} - known)
    if unknown:
        raise ValueError(
            f"The annotated texts to score models on have the labels {', '.join(unknown)}, which no training data has: "
            f"the dictionary has {', '.join(dictionary.label_names)}. Rename labels, or leave these out."
        )
    return tuple(sorted(known))


def prepare_config(config: Config, labels: Sequence[str], settings: Settings) -> Config:
    """Make the config of the rounds: set all labels and the seed, and give the CRF a guard if it has none."""
    name = find_component(config)
    values: Dict[str, Any] = {f"initialize.components.{name}.labels": list(labels), "training.seed": settings.seed}
    if "seed" in config.get("system", {}):
        values["system.seed"] = settings.seed
    guard = {"@misc": "spacy-lexner.NegativeSampling.v1", "share": settings.negatives}
    if settings.ratio is not None:
        guard = {"@misc": "spacy-lexner.EntityRatio.v1", "ratio": settings.ratio, "margin": settings.ratio / 4}
    place = f"components.{name}.model"
    model = config["components"][name]["model"]
    for block, path in ((model, place), (model.get("member", {}), f"{place}.member")):
        if block.get("@architectures") == CRF and not block.get("guard"):
            values[f"{path}.guard"] = guard
    return set_values(config, values)


def finish(rounds: Sequence[Round], gold: Optional[Sequence[GoldText]], folder: Path) -> None:
    """Save the best model, calibrated if there are annotated texts."""
    nlp = load_model(best(rounds).model)
    if gold is not None:
        calibrate(nlp, gold)
    save(nlp, folder)


def _dev_file(output: Path, found: Labels, annotated: Annotated) -> Path:
    """The file on which models are scored."""
    if not annotated.dev:
        if not (found.held.is_file() and any(spacy_file.read_docs(found.held))):
            raise ValueError(
                "None of the held-out words occurs in the texts, so models cannot be scored. Give annotated texts "
                "(--dev), or hold out more words (--held-out)."
            )
        return found.held
    file = output / "dev.spacy"
    spacy_file.write_docs(annotated.dev, file)
    return file
